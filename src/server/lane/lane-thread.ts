/** The program of the lane's thread, and of the process that tries configurations; see lane-program.ts for how it is found. */
import './lower-priority.ts';
import { parentPort } from 'node:worker_threads';
import { serveTrials } from '../trial/serve-trials.ts';
import type { ToLane } from './lane-messages.ts';
import { LaneWorker } from './lane-worker.ts';

if (parentPort === null) serveTrials();
else {
  const worker = new LaneWorker((message) => parentPort?.postMessage(message));
  parentPort.on('message', (message: ToLane) => {
    worker.receive(message);
  });
}
