import type { MonotonicClock } from '../ports.ts';

/** How long work shares a thread with those who wait for answers. Milliseconds. */
export interface Slices {
  /** Work, before others get their turn. */
  readonly work: number;
  /** Others who took longer than this over their turn get another one, */
  readonly busy: number;
  /** for so long. */
  readonly patience: number;
}

/** Work goes on in the time that nobody else has a use for, so that a request waits for one slice at most; and a little even when there is no such time. */
export const defaultSlices: Slices = { work: 1, busy: 0.3, patience: 50 };

/** Does work step by step, and lets the event loop turn in between. A step is never interrupted. */
export async function inSlices<Result>(
  steps: Generator<void, Result, void>,
  clock: MonotonicClock,
  { work, busy, patience }: Slices = defaultSlices,
): Promise<Result> {
  for (;;) {
    const end = clock() + work;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (clock() < end);
    const goOn = clock() + patience;
    for (let left = clock(); ; left = clock()) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = clock();
      if (now - left <= busy || now >= goOn) break;
    }
  }
}
