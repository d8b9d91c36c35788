import type { CanaryStep, CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutRevision, RolloutState } from '../api/revision-tag/revision-tag.ts';
import type { Evidence } from './evidence.ts';
import type { Moment } from './observation.ts';
import { atRest, isActive, type RolloutEvent, startRollout, stepAt, type Transition } from './transitions.ts';

/** The reason while a rollout waits until all workloads are known. */
export const countingReason = 'CountingWorkloads';

/** The reason why a step cannot begin yet, and when it can begin at the latest. */
export type Hold = Omit<Evidence, 'phase'>;

/**
 * Reports whether workloads are missing from the observation. A new leader does not see a workload
 * whose pods are being replaced. The state contains the number that the previous leader knew.
 */
export function isIncomplete(
  { knownWorkloads }: Pick<RolloutState, 'knownWorkloads'>,
  { observed: { workloads, incompleteUntil }, now }: Moment,
): boolean {
  if (incompleteUntil === undefined || now.getTime() >= incompleteUntil) return false;
  return new Set(workloads.map(({ rank }) => rank)).size < knownWorkloads;
}

/** Returns the hold while workloads are missing, so that the step's share cannot be measured. */
export function holdOf(
  state: Pick<RolloutState, 'knownWorkloads' | 'weight'>,
  step: CanaryStep,
  moment: Moment,
): Hold | undefined {
  const weight = Math.max(step.weight, state.weight);
  if (weight === 0 || weight >= 100 || !isIncomplete(state, moment)) return undefined;
  const at = moment.observed.incompleteUntil ?? 0;
  const message = `${weight} percent is measured when ${state.knownWorkloads} workloads are known, as many as the previous leader counted, and at ${new Date(at).toISOString()} at the latest: a new leader does not see a workload whose pods are being replaced`;
  return { reason: countingReason, message, at };
}

/** Begins a rollout at its first step, or waits at stable until its share can be measured. */
export function startOrWait(
  state: RolloutState,
  canary: RolloutRevision,
  { steps }: CanaryStrategy,
  moment: Moment,
): Transition {
  const hold = holdOf({ ...state, weight: 0 }, stepAt(steps, 0), moment);
  return hold === undefined ? startRollout(state, canary, steps, moment) : waitAtStable(state, hold);
}

/** Ends any rollout. All pods get stable until the next rollout can begin. */
export function waitAtStable(
  state: RolloutState,
  { reason, message }: Pick<RolloutState, 'reason' | 'message'>,
): Transition {
  const events = isActive(state) ? [takenBack(state.canary.revision, message)] : [];
  return { state: atRest(state, state.stable, { reason, message }), events };
}

/** Returns the Event for a canary that is withdrawn without a failure. */
export function takenBack(revision: string, why: string): RolloutEvent {
  return {
    type: 'Normal',
    reason: 'RolloutAborted',
    message: `the rollout to revision ${revision} was aborted: ${why}`,
  };
}
