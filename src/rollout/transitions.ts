import type { CanaryStep } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutRevision, RolloutState } from '../api/revision-tag/revision-tag.ts';
import { emptyShadowReport } from './shadow-report.ts';
import type { Moment } from './observation.ts';
import { isSameConfiguration } from '../routing/route.ts';
import { countBelow, thresholdFor } from '../routing/threshold.ts';
import { everyWorkload, noWorkload } from '../routing/workload-key.ts';

/** The reasons of Events about a rollout. */
export const rolloutEvents = {
  RolloutStarted: 'a rollout begins',
  StepStarted: 'a step of a rollout begins',
  RolloutPaused: 'a step waits for `injector tag resume`',
  RolloutResumed: 'a user ended the pause of a step',
  Promoted: 'the canary becomes stable: all new pods get it',
  RolledBack: 'the canary failed, and all new pods get the stable revision',
  RolloutAborted: 'an edit of the spec ended the rollout',
  ActionRefused: '`injector tag promote`, `abort`, `pause`, `resume` or `retry` was refused',
} as const;

/** An Event about a rollout. */
export interface RolloutEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: keyof typeof rolloutEvents;
  readonly message: string;
}

/** A new state, and the events to record. */
export interface Transition {
  readonly state: RolloutState;
  readonly events: readonly RolloutEvent[];
}

/** The complete state of a rollout that is in progress. */
export type ActiveState = RolloutState & Required<Pick<RolloutState, 'canary' | 'step' | 'stepStartedAt'>>;

const noPods = { ready: 0, failing: 0, total: 0 };

/** Reports whether a rollout is in progress. An incomplete state counts as no rollout. */
export function isActive(state: RolloutState): state is ActiveState {
  return state.canary !== undefined && state.step !== undefined && state.stepStartedAt !== undefined;
}

/** Returns the state without a rollout. The answer to the last action and the report remain. */
export function atRest(
  before: Partial<RolloutState>,
  stable: RolloutRevision,
  { reason, message }: Pick<RolloutState, 'reason' | 'message'>,
): RolloutState {
  const { action, rolledBackFrom, shadowReport, startedAt } = before;
  return {
    phase: 'Idle',
    reason,
    message,
    stable,
    weight: 0,
    threshold: noWorkload,
    shadow: false,
    // Keep the start of the last rollout: earlier restarts no longer count (`isOvertaken`).
    ...(startedAt === undefined ? {} : { startedAt }),
    knownWorkloads: before.knownWorkloads ?? 0,
    canaryWorkloads: 0,
    pods: before.pods ?? { stable: noPods, canary: noPods },
    injectionErrors: before.injectionErrors ?? 0,
    ...(rolledBackFrom === undefined ? {} : { rolledBackFrom }),
    ...(shadowReport === undefined ? {} : { shadowReport }),
    ...(action === undefined ? {} : { action }),
  };
}

/** Returns a step. @throws RangeError if the step does not exist, which the schema prevents */
export function stepAt(steps: readonly CanaryStep[], index: number): CanaryStep {
  const step = steps[index];
  if (step === undefined) throw new RangeError(`spec.strategy.canary.steps has no step ${index}`);
  return step;
}

/** Begins a rollout at its first step. */
export function startRollout(
  before: RolloutState,
  canary: RolloutRevision,
  steps: readonly CanaryStep[],
  moment: Moment,
): Transition {
  const begun: RolloutState = {
    ...atRest(before, before.stable, before),
    canary,
    startedAt: moment.now.toISOString(),
    stableBefore: stableBefore(before),
    injectionErrors: 0,
  };
  delete begun.shadowReport;
  if (before.rolledBackFrom !== undefined && isSameConfiguration(before.rolledBackFrom, canary))
    delete begun.rolledBackFrom;
  const { state, events } = beginStep(begun, { index: 0, step: stepAt(steps, 0) }, moment);
  const message = `the rollout from revision ${before.stable.revision} to ${canary.revision} (configuration ${canary.hash}) begins`;
  return { state, events: [{ type: 'Normal', reason: 'RolloutStarted', message }, ...events] };
}

/** Counts the stable pods when a rollout begins. If there are none, keeps the last count. */
function stableBefore({ pods, stableBefore: known }: RolloutState): NonNullable<RolloutState['stableBefore']> {
  const { stable } = pods;
  return stable.total === 0 && known !== undefined ? known : { failing: stable.failing, total: stable.total };
}

/** Begins a step: measures its share, and drops the evidence of the previous step. */
export function beginStep(
  before: RolloutState,
  { index, step }: { readonly index: number; readonly step: CanaryStep },
  { observed, now }: Moment,
): Transition {
  const rest = { ...before };
  delete rest.pausedAt;
  delete rest.resumed;
  delete rest.shadowBefore;
  // After an edit, the weights of all steps may be smaller than the current weight: keep it.
  const weight = Math.max(step.weight, before.weight);
  const ranks = observed.workloads.map(({ rank }) => rank);
  const threshold = thresholdFor(ranks, weight, before.threshold);
  const canaryWorkloads = countBelow(ranks, threshold);
  const { compared, failed } = observed.shadow ?? emptyShadowReport;
  const shadow = step.shadow && weight === 0;
  const message = shadow
    ? `step ${index + 1}: the canary is rendered and compared, but no workload gets it`
    : `step ${index + 1}: ${weight} percent, ${canaryWorkloads} of ${ranks.length} workloads get the canary`;
  const state: RolloutState = {
    ...rest,
    phase: shadow ? 'Shadowing' : 'Progressing',
    reason: 'StepStarted',
    message,
    step: index,
    weight,
    threshold,
    shadow,
    canaryWorkloads,
    stepStartedAt: now.toISOString(),
    ...(shadow ? { shadowBefore: { compared, failed } } : {}),
  };
  return { state, events: [{ type: 'Normal', reason: 'StepStarted', message }] };
}

/** Makes the canary stable, and skips the remaining steps. `step` counts the completed steps. */
export function promote(before: ActiveState, step: number, how: string): Transition {
  const message = `revision ${before.canary.revision} is stable now, in place of ${before.stable.revision}: ${how}`;
  const state: RolloutState = {
    ...atRest(before, before.canary, { reason: 'Promoted', message }),
    phase: 'Promoted',
    step,
    weight: 100,
    threshold: everyWorkload,
    canaryWorkloads: before.knownWorkloads,
  };
  delete state.rolledBackFrom;
  return { state, events: [{ type: 'Normal', reason: 'Promoted', message }] };
}

/** Moves all pods back to stable until the spec changes or a user requests `retry`. */
export function rollBack(before: ActiveState, generation: number, reason: string, why: string): Transition {
  const { canary, stable, step, weight } = before;
  const message = `revision ${canary.revision} was rolled back to ${stable.revision} at step ${step + 1} (${weight} percent): ${why}`;
  const state: RolloutState = {
    ...atRest(before, stable, { reason, message: message.slice(0, longestMessage) }),
    phase: 'RolledBack',
    step,
    rolledBackFrom: canary,
    generation,
  };
  return { state, events: [{ type: 'Warning', reason: 'RolledBack', message: state.message }] };
}

/** The limit of the status schema, in characters. */
const longestMessage = 2048;
