import { setImmediate as nextTurn, setTimeout as pauseFor } from 'node:timers/promises';
import type { Steps } from './steps.ts';

/**
 * How background work shares a thread with requests, in milliseconds. Work runs when the event loop
 * is idle, so a request waits for at most one slice; on a busy loop, a slice runs after `patience`.
 * With a rest of four slices, work takes a fifth of a busy thread, and all of an idle thread.
 */
export const defaultSlices = {
  /** The duration of a slice. */
  work: 1,
  /** A turn of the event loop that takes longer than `busy` is busy, and delays the next slice. */
  busy: 0.3,
  /** The maximum time for which a slice waits. */
  patience: 50,
  /** After a recent busy turn, work rests for this multiple of the slice's duration. */
  rest: 4,
  /** The time for which a busy turn counts as recent. */
  lately: 20,
};

export type Slices = Readonly<typeof defaultSlices>;

export interface BetweenSlices {
  /** Called at the end of each slice with its duration in milliseconds. */
  readonly afterSlice?: ((milliseconds: number) => void) | undefined;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Runs work in slices of whole steps, and lets the event loop turn between slices.
 * @param clock returns monotonic milliseconds
 */
export async function inSlices<Result>(
  steps: Steps<Result>,
  clock: () => number,
  { work, busy, patience, rest, lately }: Slices = defaultSlices,
  { afterSlice, pause = pauseFor }: BetweenSlices = {},
): Promise<Result> {
  let lastBusy = -Infinity;
  for (;;) {
    const begun = clock();
    let step;
    do step = steps.next();
    while (step.done !== true && clock() < begun + work);
    afterSlice?.(clock() - begun);
    if (step.done === true) return step.value;
    const ended = clock();
    const goOn = ended + patience;
    let isRested = false;
    for (let left = ended; ; left = clock()) {
      await nextTurn();
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
