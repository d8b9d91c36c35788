import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `step` again and again until the returned function is called, which waits for the end of
 * the current step and throws if a step has failed. `pause` waits for some milliseconds, but not
 * longer than until that call.
 */
export function repeat(step: (pause: (milliseconds: number) => Promise<unknown>) => Promise<void>) {
  const ending = new AbortController();
  const { signal } = ending;
  const pause = (milliseconds: number) => sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  const run = async () => {
    while (!signal.aborted) await step(pause);
  };
  const running = run();
  running.catch(() => undefined);
  return async () => {
    ending.abort();
    await running;
  };
}
