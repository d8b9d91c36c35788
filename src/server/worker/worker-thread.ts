/** The program of the worker's thread, and of the process that tries configurations; see worker-program.ts for how it is found. */
import './lower-priority.ts';
import { writeFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { type FromTrial, type ToTrial, tryConfiguration } from '../trial/try-configuration.ts';
import type { FromThread, ToThread } from './messages.ts';
import { ReviewThread } from './review-thread.ts';

if (parentPort === null) serveTrials();
else {
  const thread = new ReviewThread();
  const post = (message: FromThread): void => parentPort?.postMessage(message);
  parentPort.on('message', (message: ToThread) => {
    post(thread.answer(message, post));
  });
}

/** The process that tries configurations, until the one that has started it is gone. */
function serveTrials(): void {
  const answer = (message: FromTrial): void => {
    process.send?.(message);
  };
  goFirstWhereMemoryIsShort();
  // A terminal tells all processes; when to end is for the other one to say.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit());
  process.on('message', (message: ToTrial) => {
    answer(tryConfiguration(message));
  });
  answer({ kind: 'ready' });
}

/** On Linux. */
function goFirstWhereMemoryIsShort(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Elsewhere there is no such file.
  }
}
