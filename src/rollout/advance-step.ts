import { type CanaryStep, type CanaryStrategy, untilResumed } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutState } from '../api/revision-tag/revision-tag.ts';
import { type Evidence, evidenceWithout, podEvidence, shadowEvidence, withRefusals, withReport } from './evidence.ts';
import { describeFailing, earlierFailures, earliest, judgementOf, nextFailure, worsening } from './health.ts';
import { type Hold, holdOf, isIncomplete } from './hold.ts';
import type { Moment, ObservedPod } from './observation.ts';
import { refusalFault, refusedShares } from './refusals.ts';
import { countBelow, thresholdFor } from '../routing/threshold.ts';
import { type ActiveState, beginStep, promote, rollBack, stepAt, type Transition } from './transitions.ts';
import { durationMilliseconds } from '../api/duration.ts';

/** A transition, and the time of the next pass if nothing else changes. */
interface TimedTransition extends Transition {
  readonly at: Date | undefined;
}

/**
 * Advances the current step of a rollout, in this order: roll back if the canary exceeds a bound of
 * the analysis; wait if pods of an earlier attempt fail; wait for the evidence (comparisons in a
 * shadow step, otherwise ready pods); pause; begin the next step as soon as its share can be
 * measured, or promote the canary.
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
  const shares = refusedShares(state, observed, time);
  const fault = faultOf(state, strategy, moment, earlier) ?? refusalFault(shares, strategy.analysis);
  if (fault !== undefined)
    return { ...rollBack(state, observed.generation, fault.reason, fault.message), at: undefined };
  const failure = nextFailure(observed.pods.canary, judgement);
  if (editHold !== undefined) return waiting(state, editHold, failure);
  const awaited = state.shadow
    ? shadowEvidence(state, strategy, step)
    : podEvidence(state, strategy, observed, judgement, isIncomplete(state, moment));
  const found = withRefusals(awaited, shares.canary.refused);
  const evidence = faultOf(state, strategy, moment) === undefined ? found : evidenceWithout(earlier, state);
  const isPausedByUser = state.resumed === false;
  if (!isPausedByUser && (evidence.at === undefined || evidence.at > time)) return waiting(state, evidence, failure);
  const paused = pauseOf(state, step, time);
  if (paused !== undefined) return { ...paused.transition, at: dateOf(earliest([paused.end, failure])) };
  if (observed.desired === undefined) {
    const message = `step ${index + 1} is done; revision ${observed.revision} is not ready (condition RevisionReady)`;
    return waiting(state, { phase: 'Progressing', reason: 'RevisionNotReady', message, at: undefined }, failure);
  }
  const next = steps[index + 1];
  if (next === undefined) return { ...promote(state, index + 1, 'all steps are done'), at: undefined };
  const hold = holdOf(state, next, moment);
  if (hold !== undefined) return waiting(state, hold, failure);
  return { ...beginStep(state, { index: index + 1, step: next }, moment), at: now };
}

function waiting(
  state: ActiveState,
  { phase = state.shadow ? 'Shadowing' : 'Progressing', reason, message, at }: Hold & Partial<Evidence>,
  failure: number | undefined,
): TimedTransition {
  return { state: { ...state, phase, reason, message }, events: [], at: dateOf(earliest([at, failure])) };
}

/**
 * Returns the index of the current step. After an edit of the steps, this is the first step with at
 * least the current weight, or else the last step, so that the weight never shrinks.
 */
function indexOfStep({ step, weight, shadow }: ActiveState, steps: readonly CanaryStep[]): number {
  const same = steps[step];
  if (same?.weight === weight && same.shadow === shadow) return step;
  const index = steps.findIndex((each) => each.weight >= weight);
  return index === -1 ? steps.length - 1 : index;
}

/** Measures the share again if all of its workloads are gone, so that new workloads join it. */
function withShare(state: ActiveState, moment: Moment): ActiveState {
  const ranks = moment.observed.workloads.map(({ rank }) => rank);
  if (state.shadow || ranks.length === 0 || countBelow(ranks, state.threshold) > 0) return state;
  if (isIncomplete(state, moment)) return state;
  const threshold = thresholdFor(ranks, state.weight, state.threshold);
  return { ...state, threshold, canaryWorkloads: countBelow(ranks, threshold) };
}

/** Returns why the canary must be rolled back. Does not count the pods `leftOut`, which fail. */
function faultOf(
  state: RolloutState,
  strategy: CanaryStrategy,
  { observed, now }: Moment,
  leftOut: readonly ObservedPod[] = [],
): Pick<RolloutState, 'reason' | 'message'> | undefined {
  const { pods, stableBefore, shadow, shadowReport, injectionErrors } = state;
  const { analysis } = strategy;
  const because = observed.shadow?.error === undefined ? '' : `: ${observed.shadow.error}`;
  if (shadow && shadowReport !== undefined && shadowReport.failed > 0) {
    const message = `the canary failed for ${shadowReport.failed} of ${shadowReport.compared} pods that the stable revision accepts${because}`;
    return { reason: 'ShadowFailed', message };
  }
  if (injectionErrors > analysis.maximumInjectionErrors) {
    const message = `${injectionErrors} injections of the canary failed, more than ${analysis.maximumInjectionErrors} (spec.strategy.canary.analysis.maximumInjectionErrors)${because}`;
    return { reason: 'InjectionErrors', message };
  }
  const canary = { failing: pods.canary.failing - leftOut.length, total: pods.canary.total - leftOut.length };
  const message = worsening(canary, pods.stable, analysis, stableBefore);
  if (message === undefined) return undefined;
  const blamed = observed.pods.canary.filter((pod) => !leftOut.includes(pod));
  return {
    reason: 'PodsFailing',
    message: `${message}: ${describeFailing(blamed, judgementOf(state, strategy, now))}`,
  };
}

function dateOf(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time);
}

/**
 * Returns the pause of a step with complete evidence, and the end of the pause in milliseconds
 * since 1970 (undefined until a user resumes the step). The pause begins when the evidence is first
 * complete, and is not longer if the evidence is lost for a while. If a user paused the step
 * (`resumed` is false), it is paused until resumed. Returns undefined if the step has no pause, or
 * if the pause is over.
 */
function pauseOf(
  state: ActiveState,
  step: CanaryStep,
  now: number,
): { readonly transition: Transition; readonly end: number | undefined } | undefined {
  const pause = state.resumed === false ? untilResumed : step.pause;
  if (pause === undefined || state.resumed === true) return undefined;
  const pausedAt = state.pausedAt ?? new Date(now).toISOString();
  const end = pause === untilResumed ? undefined : Date.parse(pausedAt) + durationMilliseconds(pause);
  if (end !== undefined && end <= now) return undefined;
  const until = end === undefined ? 'until a user resumes it' : `until ${new Date(end).toISOString()}`;
  const message = `step ${state.step + 1} (${state.weight} percent) is paused ${until}`;
  const reason = end === undefined ? 'UntilResumed' : 'Pause';
  const events = state.pausedAt === undefined ? [{ type: 'Normal', reason: 'RolloutPaused', message } as const] : [];
  return { transition: { state: { ...state, phase: 'Paused', reason, message, pausedAt }, events }, end };
}
