import { inject } from '../../inject/inject.ts';
import type { Injector } from '../../inject/injector.ts';
import type { MonotonicClock } from '../ports.ts';
import { trialPod } from '../trial/trial-pods.ts';

/**
 * So many pods, or so many milliseconds of work. In a process that has just started all code is cold: the first pod costs forty times as much as later ones, the first hundred
 * four times (Istio's templates). Later on only what is the configuration's own is cold: its first pod costs ten times as much.
 */
const bounds = { cold: { pods: 60, enough: 250 }, warm: { pods: 15, enough: 50 } };

/** Injects pods of our own, one in each step. What comes of it is for others to judge; nothing of it is kept. */
export function* tryOut(injector: Injector, clock: MonotonicClock, isWarm: boolean): Generator<void, void, void> {
  const { pods, enough } = isWarm ? bounds.warm : bounds.cold;
  let worked = 0;
  for (let index = 0; index < pods && worked < enough; index++) {
    const begun = clock();
    inject(injector, { pod: trialPod(injector.settings.keys.inject, index), namespace: 'default', path: '/inject' });
    worked += clock() - begun;
    yield;
  }
  injector.templates.outputs.forget();
}
