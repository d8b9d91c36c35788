import type { CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutPhase } from '../api/revision-tag/revision-tag.ts';
import { evidenceAt, type Judgement } from './health.ts';
import type { ObservedPod, RolloutObservation } from './observation.ts';
import type { ActiveState } from './transitions.ts';
import { getsCanary } from '../routing/workload-key.ts';

/** Whether a step may end: now, at a moment to come if nothing changes, or only after news. */
export interface Evidence {
  readonly phase: RolloutPhase;
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since 1970; undefined: something has to happen first. */
  readonly at: number | undefined;
}

/**
 * Of a step with a weight: `minimumPods` pods of the canary, or as many as the workloads of the share have if those are fewer, ready for
 * `minReadySeconds` within the step. Never nothing: without pods it waits.
 */
export function podEvidence(
  state: ActiveState,
  { workloads, pods }: RolloutObservation,
  judgement: Judgement,
): Evidence {
  const { analysis } = judgement;
  const share = workloads.filter(({ rank }) => getsCanary(rank, state.threshold));
  // A workload without pods had some a moment ago: it is being restarted, and is waited for.
  const inShare = share.reduce((sum, { pods: present }) => sum + Math.max(present, 1), 0);
  const needed = inShare === 0 ? analysis.minimumPods : Math.min(analysis.minimumPods, inShare);
  const stepSince = Date.parse(state.stepStartedAt);
  const at = evidenceAt(pods.canary, { needed, stepSince }, judgement);
  const step = `step ${state.step + 1} (${state.weight} percent)`;
  if (at === undefined) {
    const { ready } = state.pods.canary;
    const message = `${step} waits for pods: ${ready} of ${needed} pods of the canary are ready; a workload gets it when its pods are made anew`;
    return { phase: 'WaitingForPods', reason: 'NotEnoughPods', message, at };
  }
  const message = `${step}: ${needed} pods of the canary are ready, and have to stay so for ${analysis.minReadySeconds} s`;
  return { phase: 'Progressing', reason: 'WatchingPods', message, at };
}

/** Of a shadow step: `minimumPods` admissions for which both were rendered. That none of them failed is looked at before. */
export function shadowEvidence(state: ActiveState, { analysis }: CanaryStrategy): Evidence {
  const compared = state.shadowReport?.compared ?? 0;
  const message = `step ${state.step + 1} (shadow): compared for ${compared} of ${analysis.minimumPods} pods; pods are compared when they are made`;
  const at = compared >= analysis.minimumPods ? 0 : undefined;
  return { phase: 'Shadowing', reason: 'ComparingPods', message, at };
}

/** Of a step that only failing pods of an earlier attempt keep from going on: they say nothing of this one, and it is not promoted past them. */
export function evidenceWithout(earlier: readonly ObservedPod[], { step, weight, shadow }: ActiveState): Evidence {
  const names = earlier.slice(0, 3).map(({ name }) => name);
  const more = earlier.length > names.length ? ` and ${earlier.length - names.length} more` : '';
  const message = `step ${step + 1} (${weight} percent) waits for pods of the canary that are failing and older than this attempt: ${names.join(', ')}${more}; delete them, or restart their workloads`;
  return { phase: shadow ? 'Shadowing' : 'WaitingForPods', reason: 'EarlierPodsFailing', message, at: undefined };
}

/** The state with what the replicas have found since the shadow step began. */
export function withReport(state: ActiveState, { shadow: report }: RolloutObservation): ActiveState {
  if (!state.shadow || report === undefined) return state;
  const counted = state.shadowBefore ?? { compared: 0, failed: 0 };
  // Counts live as long as a replica does: a sum that has shrunk begins at nothing.
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
