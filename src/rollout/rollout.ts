import type { CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutState } from '../api/revision-tag/revision-tag.ts';
import { answerAction, refuseUnknown } from './actions.ts';
import { advanceStep } from './advance-step.ts';
import { countingReason, isIncomplete, startOrWait, takenBack, waitAtStable } from './hold.ts';
import { countPods, judgementOf } from './health.ts';
import type { Moment, RolloutObservation } from './observation.ts';
import { countBelow } from '../routing/threshold.ts';
import { isSameConfiguration } from '../routing/route.ts';
import { atRest, isActive, rollBack, type RolloutEvent, type Transition } from './transitions.ts';

/** The input of a pass over a tag with a canary strategy. */
export interface RolloutSituation extends Moment {
  /** `status.rollout` as last written; undefined if there is none, or if it was lost. */
  readonly state: RolloutState | undefined;
  /** `spec.strategy.canary`; undefined when the tag moves immediately. */
  readonly strategy: CanaryStrategy | undefined;
}

/** The output of a pass. */
export interface RolloutPass {
  /** `status.rollout`, which determines the webhook's path; undefined if the tag has no target. */
  readonly state: RolloutState | undefined;
  /** When the next pass is due if nothing else changes; now if there is more to do. */
  readonly at: Date | undefined;
  readonly events: readonly RolloutEvent[];
}

/**
 * Computes the next state of a rollout. The state is the only memory. A pass takes at most one
 * step: the caller writes the state and its webhook path, and calls this function again. Equal
 * inputs give equal results, so an interrupted pass can be repeated.
 *
 * - Without a state, the tag starts at the revision in the rest of its status, or else at
 *   `spec.revision`, and any requested action is refused.
 * - A threshold applies until the next step begins. Within a rollout, thresholds never shrink.
 * - A step ends when its evidence is complete (`advance-step.ts`). After the last step, the canary
 *   is promoted.
 * - When `spec.revision` or the configuration of the canary changes, the rollout starts again from
 *   stable. When `spec.revision` names the stable revision, the rollout ends.
 * - A rollback stays until the spec changes or a user requests `retry`.
 */
export function advanceRollout({ state, strategy, ...moment }: RolloutSituation): RolloutPass {
  const { observed, now } = moment;
  const known = state ?? firstState(observed);
  if (known === undefined) return { state: undefined, at: undefined, events: [] };
  const current = withFigures(known, strategy, moment);
  const moved = followSpec(current, strategy, moment);
  if (moved !== undefined) return { ...moved, at: isActive(moved.state) ? now : countedAt(moved.state, observed) };
  const { state: answered, events, isMoved } = answerAction(current, strategy, moment);
  if (strategy === undefined || !isActive(answered))
    return { state: answered, at: countedAt(answered, observed), events };
  if (isMoved) return { state: answered, at: now, events };
  const step = advanceStep(answered, strategy, moment);
  return { state: step.state, at: step.at, events: [...events, ...step.events] };
}

function firstState({ before, desired, action, workloadsBefore = 0 }: RolloutObservation): RolloutState | undefined {
  const stable = before ?? desired;
  const answer = action === undefined ? {} : { action: refuseUnknown(action) };
  return stable && atRest({ knownWorkloads: workloadsBefore, ...answer }, stable, resting(stable.revision));
}

/** Returns the latest start of a rollout that waits until its workloads are known. */
function countedAt({ reason }: RolloutState, { incompleteUntil }: RolloutObservation): Date | undefined {
  return reason === countingReason && incompleteUntil !== undefined ? new Date(incompleteUntil) : undefined;
}

/** Returns the transition that the spec requires; undefined to keep the state. */
function followSpec(state: RolloutState, strategy: CanaryStrategy | undefined, moment: Moment): Transition | undefined {
  const { revision, desired, generation, gone } = moment.observed;
  if (revision === state.stable.revision) return backToStable(state);
  if (strategy === undefined) return desired && { state: atRest({}, desired, resting(revision)), events: [] };
  if (isActive(state) && state.canary.revision === revision) {
    if (gone !== undefined) return rollBack(state, generation, 'CanaryUnavailable', gone);
    if (desired === undefined || isSameConfiguration(desired, state.canary)) return undefined;
    return startOrWait(state, desired, strategy, moment);
  }
  if (state.phase === 'RolledBack' && state.generation === generation) return undefined;
  if (desired !== undefined) return unlessRepeated(state, startOrWait(state, desired, strategy, moment));
  const message = `revision ${revision} is not ready yet (condition RevisionReady); pods get revision ${state.stable.revision}`;
  return unlessRepeated(state, waitAtStable(state, { reason: 'RevisionNotReady', message }));
}

/** Drops a transition that would not change the waiting state, so that the pass continues. */
function unlessRepeated(before: RolloutState, transition: Transition): Transition | undefined {
  const { phase, reason, message } = transition.state;
  const isSame = before.reason === reason && before.message === message;
  return phase === 'Idle' && before.phase === phase && isSame ? undefined : transition;
}

/** Ends any rollout, because the spec names the stable revision. */
function backToStable(state: RolloutState): Transition | undefined {
  const { revision } = state.stable;
  if (isActive(state)) {
    const events = [takenBack(state.canary.revision, `spec.revision is ${revision} again`)];
    return { state: atRest(state, state.stable, resting(revision)), events };
  }
  if (state.phase === 'Promoted' || (state.phase === 'Idle' && state.reason === 'Stable')) return undefined;
  return { state: atRest(state, state.stable, resting(revision)), events: [] };
}

function resting(revision: string): Pick<RolloutState, 'reason' | 'message'> {
  return { reason: 'Stable', message: `pods get revision ${revision}` };
}

/** Updates the counts and the configuration of the stable revision. */
function withFigures(state: RolloutState, strategy: CanaryStrategy | undefined, moment: Moment): RolloutState {
  const { stable, workloads, pods, injectionErrors } = moment.observed;
  const followed = stable?.revision === state.stable.revision ? stable : state.stable;
  if (strategy === undefined) return { ...state, stable: followed };
  const ranks = workloads.map(({ rank }) => rank);
  const judgement = judgementOf(state, strategy, moment.now);
  return {
    ...state,
    stable: followed,
    // While workloads are missing, keep the count, which the next leader may need too.
    ...(isIncomplete(state, moment)
      ? {}
      : { knownWorkloads: new Set(ranks).size, canaryWorkloads: countBelow(ranks, state.threshold) }),
    pods: { stable: countPods(pods.stable, judgement), canary: countPods(pods.canary, judgement) },
    ...(isActive(state) ? { injectionErrors } : {}),
  };
}
