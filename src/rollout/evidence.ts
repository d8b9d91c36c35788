import type { CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutPhase } from '../api/revision-tag/revision-tag.ts';
import { evidenceAt, type Judgement } from './health.ts';
import type { ObservedPod, Refusal, RolloutObservation } from './observation.ts';
import { describeRefusals } from './refusals.ts';
import type { ActiveState } from './transitions.ts';
import { getsCanary } from '../routing/workload-key.ts';

/** The evidence that ends a step: complete, complete at a known time, or waiting for a change. */
export interface Evidence {
  readonly phase: RolloutPhase;
  readonly reason: string;
  readonly message: string;
  /** When the evidence is complete, in milliseconds since 1970; undefined if that is unknown. */
  readonly at: number | undefined;
}

/**
 * Returns the evidence of a step with a weight: `minimumPods` canary pods must be ready for
 * `minReadySeconds` within the step. If the share has fewer pods, all of its pods are enough.
 * @param isIncomplete whether workloads are missing, which a new leader does not see yet
 */
export function podEvidence(
  state: ActiveState,
  { workloads, pods }: RolloutObservation,
  judgement: Judgement,
  isIncomplete: boolean,
): Evidence {
  const { analysis } = judgement;
  const share = workloads.filter(({ rank }) => getsCanary(rank, state.threshold));
  // A workload without pods is being restarted, so expect one pod.
  const missing = isIncomplete ? Math.max(0, state.canaryWorkloads - share.length) : 0;
  const inShare = share.reduce((sum, { pods: present }) => sum + Math.max(present, 1), missing);
  const needed = inShare === 0 ? analysis.minimumPods : Math.min(analysis.minimumPods, inShare);
  const stepSince = Date.parse(state.stepStartedAt);
  const at = evidenceAt(pods.canary, { needed, stepSince }, judgement);
  const step = `step ${state.step + 1} (${state.weight} percent)`;
  if (at === undefined) {
    const { ready } = state.pods.canary;
    const message = `${step} waits for pods: ${ready} of ${needed} pods of the canary are ready; a workload gets the canary when its pods are recreated`;
    return { phase: 'WaitingForPods', reason: 'NotEnoughPods', message, at };
  }
  const message = `${step}: ${needed} pods of the canary are ready, and must stay ready for ${analysis.minReadySeconds} s`;
  return { phase: 'Progressing', reason: 'WatchingPods', message, at };
}

/** Returns the evidence of a shadow step: the replicas must compare `minimumPods` pods. */
export function shadowEvidence(state: ActiveState, { analysis }: CanaryStrategy): Evidence {
  const compared = state.shadowReport?.compared ?? 0;
  const message = `step ${state.step + 1} (shadow): compared ${compared} of ${analysis.minimumPods} pods; pods are compared when they are created`;
  const at = compared >= analysis.minimumPods ? 0 : undefined;
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
