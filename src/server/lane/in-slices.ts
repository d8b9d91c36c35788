import type { Steps } from '../../template/steps.ts';
import type { MonotonicClock } from '../ports.ts';

/** How much of the thread long work may take. Milliseconds. */
export interface Slices {
  /** Work, until others get their turn. */
  readonly work: number;
  /** When they took longer than this over their turn, */
  readonly busy: number;
  /** they get so much more before the work goes on. */
  readonly pause: number;
}

/** A third of a busy thread at most, and never so long that a request would feel it; all of an idle one. */
export const defaultSlices: Slices = { work: 2, busy: 0.3, pause: 4 };

/** Does work step by step, and lets the event loop turn in between. A step is never interrupted. */
export async function inSlices<Result>(
  steps: Steps<Result>,
  clock: MonotonicClock,
  { work, busy, pause }: Slices = defaultSlices,
): Promise<Result> {
  for (;;) {
    const end = clock() + work;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (clock() < end);
    const left = clock();
    await new Promise((resolve) => setImmediate(resolve));
    if (clock() - left > busy) await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
