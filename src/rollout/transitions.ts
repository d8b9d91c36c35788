import type { CanaryStep } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutRevision, RolloutState } from '../api/revision-tag/revision-tag.ts';
import { emptyShadowReport } from './shadow-report.ts';
import type { Moment } from './observation.ts';
import { isSameConfiguration } from '../routing/route.ts';
import { countBelow, thresholdFor } from '../routing/threshold.ts';
import { everyWorkload, noWorkload } from '../routing/workload-key.ts';

/** What is told of a rollout in Events. */
export const rolloutEvents = {
  RolloutStarted: 'a rollout begins',
  StepStarted: 'a step of a rollout begins',
  RolloutPaused: 'a step waits for `injector tag resume`',
  RolloutResumed: 'the pause of a step is over',
  Promoted: 'every pod gets the canary now',
  RolledBack: 'the canary was taken back',
  RolloutAborted: 'the rollout is over, by an edit of the spec',
  ActionRefused: '`injector tag promote`, `abort`, `resume` or `retry` would come to nothing',
} as const;

/** What is to be told to people. */
export interface RolloutEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: keyof typeof rolloutEvents;
  readonly message: string;
}

/** A state and what is to be told about the way there. */
export interface Transition {
  readonly state: RolloutState;
  readonly events: readonly RolloutEvent[];
}

/** A rollout under way. */
export type ActiveState = RolloutState & Required<Pick<RolloutState, 'canary' | 'step' | 'stepStartedAt'>>;

const nobody = { ready: 0, failing: 0, total: 0 };

/** Whether the webhook's path names two revisions. A state of which a part was lost counts as one without a rollout. */
export function isActive(state: RolloutState): state is ActiveState {
  return state.canary !== undefined && state.step !== undefined && state.stepStartedAt !== undefined;
}

/** A tag at rest. What was answered and counted stays. */
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
    // A workload that was restarted before the last rollout began may have to be once more.
    ...(startedAt === undefined ? {} : { startedAt }),
    knownWorkloads: before.knownWorkloads ?? 0,
    canaryWorkloads: 0,
    pods: before.pods ?? { stable: nobody, canary: nobody },
    injectionErrors: before.injectionErrors ?? 0,
    ...(rolledBackFrom === undefined ? {} : { rolledBackFrom }),
    ...(shadowReport === undefined ? {} : { shadowReport }),
    ...(action === undefined ? {} : { action }),
  };
}

/** A step that there is: the schema asks for one at least. */
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

/** How the stable revision does when a rollout begins; in the middle of another one there may be no pods of it left to tell. */
function stableBefore({ pods, stableBefore: known }: RolloutState): NonNullable<RolloutState['stableBefore']> {
  const { stable } = pods;
  return stable.total === 0 && known !== undefined ? known : { failing: stable.failing, total: stable.total };
}

/** Begins a step: measures the share among the workloads that are known now, and forgets the evidence of the step before. */
export function beginStep(
  before: RolloutState,
  { index, step }: { readonly index: number; readonly step: CanaryStep },
  { observed, now }: Moment,
): Transition {
  const rest = { ...before };
  delete rest.pausedAt;
  delete rest.resumed;
  delete rest.shadowBefore;
  // An edit may have left only steps below the weight that is in force: it stands.
  const weight = Math.max(step.weight, before.weight);
  const ranks = observed.workloads.map(({ rank }) => rank);
  const threshold = thresholdFor(ranks, weight, before.threshold);
  const canaryWorkloads = countBelow(ranks, threshold);
  const { compared, failed } = observed.shadow ?? emptyShadowReport;
  const shadow = step.shadow && weight === 0;
  const message = shadow
    ? `step ${index + 1}: the canary is rendered and compared, no workload gets it`
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

/** The canary becomes what everybody gets, after so many steps; the others are skipped. */
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

/** Everybody gets the stable revision again, until the spec changes or somebody asks for another try. */
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

/** What the schema of the status holds. */
const longestMessage = 2048;
