import { explainTexts, lintTexts } from '../engine/evaluate.ts';
import type { Answer, Question } from '../engine-client.ts';

const answer = (message: Answer): void => {
  postMessage(message);
};

addEventListener('message', ({ data }: MessageEvent<Question>) => {
  const { id, texts } = data;
  try {
    answer({ id, explained: explainTexts(texts) });
    answer({ id, problems: lintTexts(texts) });
  } catch (error) {
    answer({ id, failure: error instanceof Error ? error.message : String(error) });
  }
});
