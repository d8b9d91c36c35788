/** The program of the worker's thread, and of the process that tries configurations; see worker-program.ts for how it is found. */
import './lower-priority.ts';
import { parentPort } from 'node:worker_threads';
import { serveTrials } from '../trial/serve-trials.ts';
import type { ToThread } from './messages.ts';
import { ReviewThread } from './review-thread.ts';

if (parentPort === null) serveTrials();
else {
  const thread = new ReviewThread();
  parentPort.on('message', (message: ToThread) => parentPort?.postMessage(thread.answer(message)));
}
