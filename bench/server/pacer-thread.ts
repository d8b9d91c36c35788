import { type MessagePort, parentPort } from 'node:worker_threads';
import { monotonic } from './monotonic.ts';

/** When requests are due, of {@link monotonic}, and whom to wake then. */
export interface Pace {
  readonly due: Float64Array<SharedArrayBuffer>;
  readonly wake: MessagePort;
}

/** Two that are due within this time are told at once. Milliseconds. */
const together = 0.05;

/**
 * Wakes the thread that sends, at the very moment: timers of an event loop are a millisecond late, and one that turns all the time takes the core that the server's threads need.
 */
parentPort?.on('message', ({ due, wake }: Pace) => {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (const [index, at] of due.entries()) {
    const next = due[index + 1] ?? Infinity;
    if (next - at < together) continue;
    const wait = at - monotonic();
    if (wait > 0) Atomics.wait(never, 0, 0, wait);
    wake.postMessage(index);
  }
  wake.close();
});
