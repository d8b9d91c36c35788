import { type CanaryStep, type CanaryStrategy, untilResumed } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutState } from '../api/revision-tag/revision-tag.ts';
import { type Evidence, evidenceWithout, podEvidence, shadowEvidence, withReport } from './evidence.ts';
import { earlierFailures, earliest, judgementOf, nextFailure, worsening } from './health.ts';
import { type Hold, holdOf, isIncomplete } from './hold.ts';
import type { Moment } from './observation.ts';
import { countBelow, thresholdFor } from '../routing/threshold.ts';
import { type ActiveState, beginStep, promote, rollBack, stepAt, type Transition } from './transitions.ts';
import { durationMilliseconds } from '../api/duration.ts';

/** A transition, and when time alone may bring the next. */
interface TimedTransition extends Transition {
  readonly at: Date | undefined;
}

/**
 * Looks at the step of a rollout under way. In this order: it is rolled back when the canary is worse than the bounds allow; it waits where only pods
 * of an earlier attempt make it so; it waits for the evidence; it pauses; then the next step begins, once its share can be measured, or the canary
 * is promoted. A shadow step needs comparisons, any other ready pods.
 */
export function advanceStep(before: ActiveState, strategy: CanaryStrategy, moment: Moment): TimedTransition {
  const { observed, now } = moment;
  const { steps } = strategy;
  const index = indexOfStep(before, steps);
  const step = stepAt(steps, index);
  const isEdited = index !== before.step || step.weight > before.weight;
  const editHold = isEdited ? holdOf(before, step, moment) : undefined;
  if (isEdited && editHold === undefined) return { ...beginStep(before, { index, step }, moment), at: now };
  const state = withReport(withShare(before, moment), observed);
  const time = now.getTime();
  const judgement = judgementOf(state, strategy, now);
  const earlier = earlierFailures(observed.pods.canary, judgement);
  const fault = faultOf(state, strategy, earlier.length);
  if (fault !== undefined)
    return { ...rollBack(state, observed.generation, fault.reason, fault.message), at: undefined };
  const failure = nextFailure(observed.pods.canary, judgement);
  if (editHold !== undefined) return held(state, editHold, failure);
  const found = state.shadow ? shadowEvidence(state, strategy) : podEvidence(state, observed, judgement);
  const evidence = faultOf(state, strategy) === undefined ? found : evidenceWithout(earlier, state);
  if (evidence.at === undefined || evidence.at > time) return held(state, evidence, failure);
  const paused = pauseOf(state, step, time);
  if (paused !== undefined) return { ...paused.transition, at: dateOf(earliest([paused.end, failure])) };
  if (observed.wanted === undefined) {
    const message = `step ${index + 1} is done; revision ${observed.revision} cannot be led to now (condition RevisionReady)`;
    return held(state, { phase: 'Progressing', reason: 'RevisionNotReady', message, at: undefined }, failure);
  }
  const next = steps[index + 1];
  if (next === undefined) return { ...promote(state, index + 1, 'all steps are done'), at: undefined };
  const hold = holdOf(state, next, moment);
  if (hold !== undefined) return held(state, hold, failure);
  return { ...beginStep(state, { index: index + 1, step: next }, moment), at: now };
}

/** What is in force goes on until more is known. */
function held(
  state: ActiveState,
  { phase = state.shadow ? 'Shadowing' : 'Progressing', reason, message, at }: Hold & Partial<Evidence>,
  failure: number | undefined,
): TimedTransition {
  return { state: { ...state, phase, reason, message }, events: [], at: dateOf(earliest([at, failure])) };
}

/**
 * Where a rollout stands among the steps. They may have been edited meanwhile: then at the first step that asks for what is in force at least,
 * or at the last one. So the weight never shrinks.
 */
function indexOfStep({ step, weight, shadow }: ActiveState, steps: readonly CanaryStep[]): number {
  const same = steps[step];
  if (same?.weight === weight && same.shadow === shadow) return step;
  const index = steps.findIndex((each) => each.weight >= weight);
  return index === -1 ? steps.length - 1 : index;
}

/** Where every workload of the share is gone, and others came, the share is measured again: otherwise nobody might ever get the canary. */
function withShare(state: ActiveState, moment: Moment): ActiveState {
  const ranks = moment.observed.workloads.map(({ rank }) => rank);
  if (state.shadow || ranks.length === 0 || countBelow(ranks, state.threshold) > 0) return state;
  if (isIncomplete(state, moment)) return state;
  const threshold = thresholdFor(ranks, state.weight, state.threshold);
  return { ...state, threshold, canaryWorkloads: countBelow(ranks, threshold) };
}

/** Why the canary has to go; undefined when it need not. So many of its failing pods are left out. */
function faultOf(
  { pods, stableBefore, shadow, shadowReport, injectionErrors }: RolloutState,
  { analysis }: CanaryStrategy,
  leftOut = 0,
): Pick<RolloutState, 'reason' | 'message'> | undefined {
  if (shadow && shadowReport !== undefined && shadowReport.failed > 0) {
    const error = shadowReport.error === undefined ? '' : `: ${shadowReport.error}`;
    const message = `it failed for ${shadowReport.failed} of ${shadowReport.compared} pods that the stable revision accepts${error}`;
    return { reason: 'ShadowFailed', message };
  }
  if (injectionErrors > analysis.maximumInjectionErrors) {
    const message = `${injectionErrors} injections of the canary failed, more than ${analysis.maximumInjectionErrors} (spec.strategy.canary.analysis.maximumInjectionErrors)`;
    return { reason: 'InjectionErrors', message };
  }
  const canary = { failing: pods.canary.failing - leftOut, total: pods.canary.total - leftOut };
  const message = worsening(canary, pods.stable, analysis, stableBefore);
  return message === undefined ? undefined : { reason: 'PodsFailing', message };
}

function dateOf(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time);
}

/**
 * The pause of a step whose evidence is there, and its end (milliseconds since 1970; undefined: a person ends it). It begins when the evidence is
 * there for the first time, and goes on when that is lost for a while. Undefined when there is none, or when it is over.
 */
function pauseOf(
  state: ActiveState,
  { pause }: CanaryStep,
  now: number,
): { readonly transition: Transition; readonly end: number | undefined } | undefined {
  if (pause === undefined || state.resumed === true) return undefined;
  const pausedAt = state.pausedAt ?? new Date(now).toISOString();
  const end = pause === untilResumed ? undefined : Date.parse(pausedAt) + durationMilliseconds(pause);
  if (end !== undefined && end <= now) return undefined;
  const until = end === undefined ? 'until somebody resumes it' : `until ${new Date(end).toISOString()}`;
  const message = `step ${state.step + 1} (${state.weight} percent) is paused ${until}`;
  const reason = end === undefined ? 'UntilResumed' : 'Pause';
  const events = state.pausedAt === undefined ? [{ type: 'Normal', reason: 'RolloutPaused', message } as const] : [];
  return { transition: { state: { ...state, phase: 'Paused', reason, message, pausedAt }, events }, end };
}
