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

/** What is known when a tag with a canary strategy is looked at. */
export interface RolloutSituation extends Moment {
  /** `status.rollout` as it was written last; undefined when there is none, or when it was lost. */
  readonly state: RolloutState | undefined;
  /** `spec.strategy.canary`; undefined: at once. */
  readonly strategy: CanaryStrategy | undefined;
}

/** What is to be written, and when to look again. */
export interface RolloutPass {
  /** `status.rollout`; it also says where the webhook's path leads. Undefined while it is not known where the tag leads. */
  readonly state: RolloutState | undefined;
  /** When time alone may change something, now if there is more to do at once; undefined when only news can. */
  readonly at: Date | undefined;
  readonly events: readonly RolloutEvent[];
}

/**
 * The next state of a rollout. All that is remembered is in the state, and at most one step is taken: write the state and the path it stands for,
 * then call again. The same input gives the same result, so a pass that was cut off is repeated without harm.
 *
 * - Without a state the tag leads where the rest of its status says, else to `spec.revision`; a request that is there is not carried out.
 * - A step begins with one threshold, which stands until the next step; it never shrinks while the rollout goes on.
 * - A step ends on evidence; see `advance-step.ts`. After the last one the canary is promoted.
 * - Another `spec.revision`, or another configuration of the canary, begins anew from stable; `spec.revision` back at stable ends the rollout.
 * - A rollback stays until the spec changes or somebody asks for `retry`.
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

/** A tag without a state is at rest where it leads, and one that leads nowhere begins where it should. */
function firstState({ before, wanted, action, workloadsBefore = 0 }: RolloutObservation): RolloutState | undefined {
  const place = before ?? wanted;
  const left = action === undefined ? {} : { action: refuseUnknown(action) };
  return place && atRest({ knownWorkloads: workloadsBefore, ...left }, place, resting(place.revision));
}

/** When a rollout begins that waits until its workloads are known. */
function countedAt({ reason }: RolloutState, { incompleteUntil }: RolloutObservation): Date | undefined {
  return reason === countingReason && incompleteUntil !== undefined ? new Date(incompleteUntil) : undefined;
}

/** What follows from the spec and the revisions alone; undefined: the state stands. */
function followSpec(state: RolloutState, strategy: CanaryStrategy | undefined, moment: Moment): Transition | undefined {
  const { revision, wanted, generation, gone } = moment.observed;
  if (revision === state.stable.revision) return backToStable(state);
  if (strategy === undefined) return wanted && { state: atRest({}, wanted, resting(revision)), events: [] };
  if (isActive(state) && state.canary.revision === revision) {
    if (gone !== undefined) return rollBack(state, generation, 'CanaryUnavailable', gone);
    if (wanted === undefined || isSameConfiguration(wanted, state.canary)) return undefined;
    return startOrWait(state, wanted, strategy, moment);
  }
  if (state.phase === 'RolledBack' && state.generation === generation) return undefined;
  if (wanted !== undefined) return unlessSaid(state, startOrWait(state, wanted, strategy, moment));
  const message = `revision ${revision} cannot be led to yet (condition RevisionReady); pods get ${state.stable.revision}`;
  return unlessSaid(state, waitAtStable(state, { reason: 'RevisionNotReady', message }));
}

/** Waiting for the same as before is nothing new: then figures are shown, and requests are answered. */
function unlessSaid(before: RolloutState, transition: Transition): Transition | undefined {
  const { phase, reason, message } = transition.state;
  const isSaid = before.reason === reason && before.message === message;
  return phase === 'Idle' && before.phase === phase && isSaid ? undefined : transition;
}

/** The spec names the stable revision: there is nothing to roll out. */
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

/** The state with what is seen now; the stable revision's own edits are followed at once, as without a rollout. */
function withFigures(state: RolloutState, strategy: CanaryStrategy | undefined, moment: Moment): RolloutState {
  const { stable, workloads, pods, injectionErrors } = moment.observed;
  const followed = stable?.revision === state.stable.revision ? stable : state.stable;
  if (strategy === undefined) return { ...state, stable: followed };
  const ranks = workloads.map(({ rank }) => rank);
  const judgement = judgementOf(state, strategy, moment.now);
  return {
    ...state,
    stable: followed,
    // Where workloads are missing, what was known stays: the next one to lead may have to ask for it as well.
    ...(isIncomplete(state, moment)
      ? {}
      : { knownWorkloads: new Set(ranks).size, canaryWorkloads: countBelow(ranks, state.threshold) }),
    pods: { stable: countPods(pods.stable, judgement), canary: countPods(pods.canary, judgement) },
    ...(isActive(state) ? { injectionErrors } : {}),
  };
}
