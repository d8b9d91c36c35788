import type { Steps } from '../../template/steps.ts';
import type { MonotonicClock } from '../ports.ts';

/** How much of the thread long work may take. Milliseconds. */
export interface Slices {
  /** Work, until requests get their turn. */
  readonly work: number;
  /** Requests, until the work goes on. */
  readonly pause: number;
}

/** A third of the thread at most, and never so long that a request would feel it. */
export const defaultSlices: Slices = { work: 2, pause: 4 };

/** Does work step by step, and lets the event loop turn in between. A step is never interrupted. */
export async function inSlices<Result>(
  steps: Steps<Result>,
  clock: MonotonicClock,
  { work, pause }: Slices = defaultSlices,
): Promise<Result> {
  for (;;) {
    const end = clock() + work;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (clock() < end);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
