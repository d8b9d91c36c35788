import type { CanaryStep, CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutRevision, RolloutState } from '../api/revision-tag/revision-tag.ts';
import type { Evidence } from './evidence.ts';
import type { Moment } from './observation.ts';
import { atRest, isActive, type RolloutEvent, startRollout, stepAt, type Transition } from './transitions.ts';

/** The reason of a rollout that waits until its workloads are known. */
export const countingReason = 'CountingWorkloads';

/** Why a step cannot begin yet. */
export type Hold = Omit<Evidence, 'phase'>;

/**
 * Whether workloads are missing from what is observed. A process that has just begun to look does not see those whose pods are being made anew at
 * that moment; the state says how many there were, by one that had looked for longer.
 */
export function isIncomplete(
  { knownWorkloads }: Pick<RolloutState, 'knownWorkloads'>,
  { observed: { workloads, incompleteUntil }, now }: Moment,
): boolean {
  if (incompleteUntil === undefined || now.getTime() >= incompleteUntil) return false;
  return new Set(workloads.map(({ rank }) => rank)).size < knownWorkloads;
}

/**
 * Why a step cannot begin: its share is measured once, and would be that of too few workloads. Undefined when it can: nobody and everybody
 * (0 and 100 percent) are the same of however many.
 */
export function holdOf(
  state: Pick<RolloutState, 'knownWorkloads' | 'weight'>,
  step: CanaryStep,
  moment: Moment,
): Hold | undefined {
  const weight = Math.max(step.weight, state.weight);
  if (weight === 0 || weight >= 100 || !isIncomplete(state, moment)) return undefined;
  const at = moment.observed.incompleteUntil ?? 0;
  const message = `${weight} percent are measured when ${state.knownWorkloads} workloads have been seen, as many as there were, at ${new Date(at).toISOString()} at the latest: whoever leads now has only begun to look, and one that is being restarted has no pods`;
  return { reason: countingReason, message, at };
}

/** Begins a rollout at its first step, or waits at stable until the share of that can be measured. */
export function startOrWait(
  state: RolloutState,
  canary: RolloutRevision,
  { steps }: CanaryStrategy,
  moment: Moment,
): Transition {
  const hold = holdOf({ ...state, weight: 0 }, stepAt(steps, 0), moment);
  return hold === undefined ? startRollout(state, canary, steps, moment) : waitAtStable(state, hold);
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
