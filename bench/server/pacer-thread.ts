import { type MessagePort, parentPort } from 'node:worker_threads';
import { monotonic } from './monotonic.ts';

/** The due times of requests on clock {@link monotonic}, and the port that wakes the sender. */
export interface Pace {
  readonly due: Float64Array<SharedArrayBuffer>;
  readonly wake: MessagePort;
}

/** The time in milliseconds within which due requests share one message. */
const sharedMilliseconds = 0.05;

// Wakes the sender when a request is due. Timers of an event loop would be a millisecond late, and
// busy waiting would take a core from the server.
parentPort?.on('message', ({ due, wake }: Pace) => {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (const [index, at] of due.entries()) {
    const next = due[index + 1] ?? Infinity;
    if (next - at < sharedMilliseconds) continue;
    const wait = at - monotonic();
    if (wait > 0) Atomics.wait(never, 0, 0, wait);
    wake.postMessage(index);
  }
  wake.close();
});
