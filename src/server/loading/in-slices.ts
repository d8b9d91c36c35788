import { setTimeout as pauseFor } from 'node:timers/promises';
import type { MonotonicClock } from '../ports.ts';

/**
 * How long work shares a thread with those who wait for answers, in milliseconds. Work goes on in the time that nobody else has a use for, so that a request waits
 * for one slice at most; and a little even when there is no such time. With a rest of four times a slice, work takes a fifth of a thread that is in use, and all of
 * one that is not.
 */
export const defaultSlices = {
  /** Work, before others get their turn. */
  work: 1,
  /** Others who took longer than this over their turn get another one, */
  busy: 0.3,
  /** for so long. */
  patience: 50,
  /** Where others had something to do lately, they are left alone for so many times as long as the slice took. */
  rest: 4,
  /** How long ago that is, at most. */
  lately: 20,
};

export type Slices = Readonly<typeof defaultSlices>;

/** What goes on between slices. */
export interface BetweenSlices {
  /** Part of every slice: collects what it has made that is young, a little at a time. Otherwise that is done all at once sometime, while requests wait. */
  readonly collect?: (() => void) | undefined;
  /** Lets so many milliseconds pass. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/** Does work step by step, and lets the event loop turn in between. A step is never interrupted. */
export async function inSlices<Result>(
  steps: Generator<void, Result, void>,
  clock: MonotonicClock,
  { work, busy, patience, rest, lately }: Slices = defaultSlices,
  { collect, pause = pauseFor }: BetweenSlices = {},
): Promise<Result> {
  let lastBusy = -Infinity;
  for (;;) {
    const begun = clock();
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (clock() < begun + work);
    collect?.();
    const ended = clock();
    const goOn = ended + patience;
    let isRested = false;
    for (let left = ended; ; left = clock()) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = clock();
      const wasBusy = now - left > busy;
      if (wasBusy) lastBusy = now;
      if (now >= goOn) break;
      if (!isRested && now - lastBusy < lately) {
        isRested = true;
        await pause(rest * (ended - begun));
      } else if (!wasBusy) break;
    }
  }
}
