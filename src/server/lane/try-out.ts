import { inject } from '../../inject/inject.ts';
import type { Injector } from '../../inject/injector.ts';
import type { MonotonicClock } from '../ports.ts';
import { trialPod } from '../trial/trial-pods.ts';

/** How much a configuration is tried. */
export interface Trial {
  readonly pods: number;
  /** Milliseconds of work after which it is enough, whatever has been tried. */
  readonly enough: number;
}

/** In a process that has just started all code is cold: the first pod costs forty times as much as later ones, the first hundred four times (Istio's templates). */
export const firstTrial: Trial = { pods: 60, enough: 250 };
/** What is new is the configuration's own: its first pod costs ten times as much, and then it is as fast as any. */
export const laterTrial: Trial = { pods: 15, enough: 50 };

/** Injects pods of our own, one in each step. What comes of it is for others to judge; nothing of it is kept. */
export function* tryOut(
  injector: Injector,
  clock: MonotonicClock,
  { pods, enough }: Trial,
): Generator<void, void, void> {
  let worked = 0;
  for (let index = 0; index < pods && worked < enough; index++) {
    const begun = clock();
    inject(injector, { pod: trialPod(injector.settings.keys.inject, index), namespace: 'default', path: '/inject' });
    worked += clock() - begun;
    yield;
  }
  injector.templates.outputs.forget();
}
