/** The program of the worker's thread and of the trial process; see worker-program.ts. */
import './lower-priority.ts';
import { writeFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { type FromTrial, type ToTrial, tryConfiguration } from '../trial/try-configuration.ts';
import { type FromThread, ReviewThread, type ToThread } from './review-thread.ts';

if (parentPort === null) serveTrials();
else {
  const thread = new ReviewThread();
  const post = (message: FromThread): void => parentPort?.postMessage(message);
  parentPort.on('message', (message: ToThread) => {
    post(thread.answer(message, post));
  });
}

/** Runs the trial process until its parent disconnects. */
function serveTrials(): void {
  const answer = (message: FromTrial): void => {
    process.send?.(message);
  };
  preferForOomKill();
  // A terminal sends signals to all processes; ignore them, because the parent ends this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit());
  process.on('message', (message: ToTrial) => {
    answer(tryConfiguration(message));
  });
  answer({ kind: 'ready' });
}

/** Makes Linux kill this process first when memory runs out. */
function preferForOomKill(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Other platforms do not have this file.
  }
}
