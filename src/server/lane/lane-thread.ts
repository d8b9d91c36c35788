/** The program of the lane's thread; see lane-program.ts for how it is found. */
import './lower-priority.ts';
import { parentPort } from 'node:worker_threads';
import type { ToLane } from './lane-messages.ts';
import { LaneWorker } from './lane-worker.ts';

const worker = new LaneWorker((message) => parentPort?.postMessage(message));
parentPort?.on('message', (message: ToLane) => {
  worker.receive(message);
});
