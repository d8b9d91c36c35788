import type { CanaryStep, CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutPhase } from '../api/revision-tag/revision-tag.ts';
import { countPods, evidenceAt, type Judgement } from './health.ts';
import type { ObservedPod, ObservedWorkload, Refusal, RolloutObservation } from './observation.ts';
import { describeRefusals } from './refusals.ts';
import type { ActiveState } from './transitions.ts';
import { thresholdFor } from '../routing/threshold.ts';
import { getsCanary, noWorkload } from '../routing/workload-key.ts';

/** The evidence that ends a step: complete, complete at a known time, or waiting for a change. */
export interface Evidence {
  readonly phase: RolloutPhase;
  readonly reason: string;
  readonly message: string;
  /** When the evidence is complete, in milliseconds since 1970; undefined if that is unknown. */
  readonly at: number | undefined;
}

/**
 * Returns the evidence of a step with a weight: `minimumPods` canary pods of the share must be
 * ready for `minReadySeconds` within the step. If the share has fewer pods, all of its pods are
 * enough. If the step has its own `minimumPods`, the same holds for the workloads that are new in
 * the step: above the share of the previous step, as measured now, and without a canary pod from
 * before it.
 * @param isIncomplete whether workloads are missing, which a new leader does not see yet
 */
export function podEvidence(
  state: ActiveState,
  { steps }: CanaryStrategy,
  { workloads, pods }: RolloutObservation,
  judgement: Judgement,
  isIncomplete: boolean,
): Evidence {
  const { step, threshold, stepStartedAt } = state;
  const { minimumPods } = judgement.analysis;
  const share = workloads.filter(({ rank }) => getsCanary(rank, threshold));
  const missing = isIncomplete ? Math.max(0, state.canaryWorkloads - share.length) : 0;
  const inShare = podsOf(share) + missing;
  const needed = inShare === 0 ? minimumPods : Math.min(minimumPods, inShare);
  // Pods outside the share can have the configuration from before the rollout, and prove nothing.
  const canary = pods.canary.filter(({ rank }) => getsCanary(rank, threshold));
  const all = readyEvidence(state, canary, needed, 'pods of the canary in its share', judgement);
  const minimum = steps[step]?.minimumPods;
  if (minimum === undefined) return all;
  // Creation times are whole seconds.
  const begun = Math.floor(Date.parse(stepStartedAt) / 1000) * 1000;
  const old = new Set(pods.canary.filter(({ createdAt }) => createdAt < begun).map(({ rank }) => rank));
  const ranks = workloads.map(({ rank }) => rank);
  const before = thresholdFor(ranks, steps[step - 1]?.weight ?? 0, noWorkload);
  const isFresh = ({ rank }: { readonly rank: string }): boolean => !old.has(rank);
  const isNew = (each: { readonly rank: string }): boolean => isFresh(each) && !getsCanary(each.rank, before);
  // Workloads that come or go may move the measured share over all that are new.
  const isAdded = share.some(isNew) ? isNew : isFresh;
  const wanted = isIncomplete ? minimum : Math.min(minimum, podsOf(share.filter(isAdded)));
  const what = `pods of the workloads that are new in this step (spec.strategy.canary.steps[${step}].minimumPods)`;
  const added = readyEvidence(state, canary.filter(isAdded), wanted, what, judgement);
  return (all.at ?? Infinity) >= (added.at ?? Infinity) ? all : added;
}

/** Counts the pods of workloads. A workload without pods is being restarted: expect one pod. */
function podsOf(workloads: readonly ObservedWorkload[]): number {
  return workloads.reduce((sum, { pods }) => sum + Math.max(pods, 1), 0);
}

/** Returns the evidence that `needed` of some pods are ready for `minReadySeconds` in the step. */
function readyEvidence(
  { step, weight, stepStartedAt }: ActiveState,
  pods: readonly ObservedPod[],
  needed: number,
  what: string,
  judgement: Judgement,
): Evidence {
  const at = needed === 0 ? 0 : evidenceAt(pods, { needed, stepSince: Date.parse(stepStartedAt) }, judgement);
  const named = `step ${step + 1} (${weight} percent)`;
  if (at === undefined) {
    const { ready } = countPods(pods, judgement);
    const message = `${named} waits for pods: ${ready} of ${needed} ${what} are ready; a workload gets the canary when its pods are recreated`;
    return { phase: 'WaitingForPods', reason: 'NotEnoughPods', message, at };
  }
  const message = `${named}: ${needed} ${what} are ready, and must stay ready for ${judgement.analysis.minReadySeconds} s`;
  return { phase: 'Progressing', reason: 'WatchingPods', message, at };
}

/** Returns the evidence of a shadow step: the replicas must compare `minimumPods` pods. */
export function shadowEvidence(state: ActiveState, { analysis }: CanaryStrategy, step: CanaryStep): Evidence {
  const compared = state.shadowReport?.compared ?? 0;
  const { minimumPods = analysis.minimumPods } = step;
  const field = step.minimumPods === undefined ? 'analysis.minimumPods' : `steps[${state.step}].minimumPods`;
  const message = `step ${state.step + 1} (shadow): compared ${compared} of ${minimumPods} pods (spec.strategy.canary.${field}); pods are compared when they are created`;
  const at = compared >= minimumPods ? 0 : undefined;
  return { phase: 'Shadowing', reason: 'ComparingPods', message, at };
}

/** Returns the evidence of a step that waits only because pods of an earlier attempt fail. */
export function evidenceWithout(earlier: readonly ObservedPod[], { step, weight, shadow }: ActiveState): Evidence {
  const names = earlier.slice(0, 3).map(({ name }) => name);
  const more = earlier.length > names.length ? ` and ${earlier.length - names.length} more` : '';
  const message = `step ${step + 1} (${weight} percent) waits because pods of an earlier attempt are failing: ${names.join(', ')}${more}; delete them, or restart their workloads`;
  return { phase: shadow ? 'Shadowing' : 'WaitingForPods', reason: 'EarlierPodsFailing', message, at: undefined };
}

/** Adds to evidence that is incomplete which pods of the canary are refused. */
export function withRefusals(evidence: Evidence, refused: readonly Refusal[]): Evidence {
  if (evidence.at !== undefined || refused.length === 0) return evidence;
  return { ...evidence, message: `${evidence.message}; pods are refused: ${describeRefusals(refused)}` };
}

/** Adds the comparisons that the replicas have made since the shadow step began. */
export function withReport(state: ActiveState, { shadow: report }: RolloutObservation): ActiveState {
  if (!state.shadow || report === undefined) return state;
  const counted = state.shadowBefore ?? { compared: 0, failed: 0 };
  // A replica that ends loses its counts. If the sum has shrunk, count from zero.
  const hasShrunk = report.compared < counted.compared || report.failed < counted.failed;
  const shadowBefore = hasShrunk ? { compared: 0, failed: 0 } : counted;
  const compared = report.compared - shadowBefore.compared;
  const failed = report.failed - shadowBefore.failed;
  const differing = Math.min(report.differing, compared);
  return {
    ...state,
    shadowBefore,
    shadowReport: { ...report, compared, failed, differing, changed: [...report.changed] },
  };
}
