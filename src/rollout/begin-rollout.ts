import type { CanaryStrategy } from '../api/rollout-strategy.ts';
import type { RolloutPlace, RolloutState } from '../api/rollout-status.ts';
import { holdOf } from './hold.ts';
import type { RolloutObservation } from './observation.ts';
import { atRest, isActive, startRollout, stepAt, type RolloutEvent, type Transition } from './transitions.ts';

/** Begins a rollout at its first step, or waits at stable until the share of that can be measured. */
export function startOrWait(
  state: RolloutState,
  canary: RolloutPlace,
  strategy: CanaryStrategy,
  observed: RolloutObservation,
  now: Date,
): Transition {
  const hold = holdOf({ ...state, weight: 0 }, stepAt(strategy.steps, 0), observed, now);
  return hold === undefined ? startRollout(state, canary, strategy.steps, observed, now) : waitAtStable(state, hold);
}

/** A rollout that cannot begin yet: pods get the stable revision, and whatever was under way is over. */
export function waitAtStable(
  state: RolloutState,
  { reason, message }: Pick<RolloutState, 'reason' | 'message'>,
): Transition {
  const events = isActive(state) ? [takenBack(state.canary.revision, message)] : [];
  return { state: atRest(state, state.stable, { reason, message }), events };
}

/** What is told of a canary that goes without having failed. */
export function takenBack(revision: string, why: string): RolloutEvent {
  return { type: 'Normal', reason: 'RolloutAborted', message: `the rollout to revision ${revision} is over: ${why}` };
}
