import type { CanaryStrategy } from '../api/rollout-strategy.ts';
import type { RolloutState } from '../api/rollout-status.ts';
import { answerAction } from './actions.ts';
import { advanceStep } from './advance-step.ts';
import { countPods, judgementOf } from './health.ts';
import type { RolloutObservation } from './observation.ts';
import { countBelow } from './threshold.ts';
import {
  atRest,
  isActive,
  isSamePlace,
  rollBack,
  startRollout,
  type RolloutEvent,
  type Transition,
} from './transitions.ts';

/** What is known when a tag with a canary strategy is looked at. */
export interface RolloutSituation {
  /** `status.rollout` as it was written last; undefined when there is none, or when it was lost. */
  readonly state: RolloutState | undefined;
  /** `spec.strategy.canary`; undefined: at once. */
  readonly strategy: CanaryStrategy | undefined;
  readonly observed: RolloutObservation;
  readonly now: Date;
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
 * - Without a state the tag leads where the rest of its status says, else to `spec.revision`.
 * - A step begins with one threshold, which stands until the next step; it never shrinks while the rollout goes on.
 * - A step ends on evidence; see `advance-step.ts`. After the last one the canary is promoted.
 * - Another `spec.revision`, or another configuration of the canary, begins anew from stable; `spec.revision` back at stable ends the rollout.
 * - A rollback stays until the spec changes or somebody asks for `retry`.
 */
export function advanceRollout({ state, strategy, observed, now }: RolloutSituation): RolloutPass {
  const known = state ?? firstState(observed);
  if (known === undefined) return { state: undefined, at: undefined, events: [] };
  const current = withFigures(known, strategy, observed, now);
  const moved = followSpec(current, strategy, observed, now);
  if (moved !== undefined) return { ...moved, at: isActive(moved.state) ? now : undefined };
  const { state: answered, events, isMoved } = answerAction(current, strategy, observed, now);
  if (isMoved || strategy === undefined || !isActive(answered)) {
    return { state: answered, at: isMoved && isActive(answered) ? now : undefined, events };
  }
  const step = advanceStep(answered, strategy, observed, now);
  return { state: step.state, at: step.at, events: [...events, ...step.events] };
}

/** A tag without a state is at rest where it leads, and one that leads nowhere begins where it should. */
function firstState({ before, wanted }: RolloutObservation): RolloutState | undefined {
  const place = before ?? wanted;
  return place && atRest({}, place, resting(place.revision));
}

/** What follows from the spec and the revisions alone; undefined: the state stands. */
function followSpec(
  state: RolloutState,
  strategy: CanaryStrategy | undefined,
  observed: RolloutObservation,
  now: Date,
): Transition | undefined {
  const { revision, wanted } = observed;
  if (revision === state.stable.revision) return backToStable(state);
  if (strategy === undefined) return wanted && { state: atRest({}, wanted, resting(revision)), events: [] };
  if (isActive(state) && state.canary.revision === revision) {
    if (observed.gone !== undefined) {
      return rollBack(state, observed.generation, 'CanaryUnavailable', observed.gone);
    }
    if (wanted === undefined || isSamePlace(wanted, state.canary)) return undefined;
    return startRollout(state, wanted, strategy.steps, observed, now);
  }
  if (state.phase === 'RolledBack' && state.generation === observed.generation) return undefined;
  if (wanted !== undefined) return startRollout(state, wanted, strategy.steps, observed, now);
  const message = `revision ${revision} cannot be led to yet (condition RevisionReady); pods get ${state.stable.revision}`;
  const waiting = atRest(state, state.stable, { reason: 'RevisionNotReady', message });
  if (state.phase === 'Idle' && state.reason === waiting.reason && state.message === message) return undefined;
  return { state: waiting, events: isActive(state) ? [taken(state.canary.revision, message)] : [] };
}

/** The spec names the stable revision: there is nothing to roll out. */
function backToStable(state: RolloutState): Transition | undefined {
  const { revision } = state.stable;
  if (isActive(state)) {
    const events = [taken(state.canary.revision, `spec.revision is ${revision} again`)];
    return { state: atRest(state, state.stable, resting(revision)), events };
  }
  if (state.phase === 'Promoted' || (state.phase === 'Idle' && state.reason === 'Stable')) return undefined;
  return { state: atRest(state, state.stable, resting(revision)), events: [] };
}

function taken(revision: string, why: string): RolloutEvent {
  return { type: 'Normal', reason: 'RolloutAborted', message: `the rollout to revision ${revision} is over: ${why}` };
}

function resting(revision: string): Pick<RolloutState, 'reason' | 'message'> {
  return { reason: 'Stable', message: `pods get revision ${revision}` };
}

/** The state with what is seen now; the stable revision's own edits are followed at once, as without a rollout. */
function withFigures(
  state: RolloutState,
  strategy: CanaryStrategy | undefined,
  { stable, workloads, pods, injectionErrors }: RolloutObservation,
  now: Date,
): RolloutState {
  const followed = stable?.revision === state.stable.revision ? stable : state.stable;
  if (strategy === undefined) return { ...state, stable: followed };
  const ranks = workloads.map(({ rank }) => rank);
  const judgement = judgementOf(state, strategy, now);
  return {
    ...state,
    stable: followed,
    knownWorkloads: new Set(ranks).size,
    canaryWorkloads: countBelow(ranks, state.threshold),
    pods: {
      stable: countPods(pods.stable, judgement),
      canary: countPods(pods.canary, judgement),
    },
    ...(isActive(state) ? { injectionErrors } : {}),
  };
}
