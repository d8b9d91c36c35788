import type { MonotonicClock } from '../ports.ts';

/**
 * Lets through so many things a second.
 * @returns a function that is asked for each of them: how many were held back since the last one that passed, or undefined when this one is held back too
 */
export function throttle(clock: MonotonicClock, perSecond: number): () => number | undefined {
  let second = -1;
  let passed = 0;
  let heldBack = 0;
  return () => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) {
      second = now;
      passed = 0;
    }
    if (passed === perSecond) {
      heldBack++;
      return undefined;
    }
    passed++;
    const before = heldBack;
    heldBack = 0;
    return before;
  };
}
