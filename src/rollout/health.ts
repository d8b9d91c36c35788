import { durationMilliseconds } from '../api/duration.ts';
import type { CanaryAnalysis, CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { PodCounts, RolloutState } from '../api/revision-tag/revision-tag.ts';
import type { ObservedPod } from './observation.ts';

/** By what pods are judged, and when. Milliseconds since 1970. */
export interface Judgement {
  readonly analysis: CanaryAnalysis;
  /** When the rollout began: how often an older pod has restarted says nothing about it. */
  readonly since: number;
  readonly now: number;
}

/** How the pods of a rollout are judged now; without a rollout no restart counts. */
export function judgementOf(
  { startedAt, canary }: Pick<RolloutState, 'startedAt' | 'canary'>,
  { analysis }: CanaryStrategy,
  now: Date,
): Judgement {
  // Pods say in whole seconds when they were made: one of the same second is none of before.
  const isOver = startedAt === undefined || canary === undefined;
  const since = isOver ? Infinity : Math.floor(Date.parse(startedAt) / 1000) * 1000;
  return { analysis, since, now: now.getTime() };
}

/** Pods of one revision, counted. `ready` are those that are ready and do not count as failing. */
export function countPods(pods: readonly ObservedPod[], judgement: Judgement): PodCounts {
  const failing = pods.filter((pod) => isFailing(pod, judgement)).length;
  const ready = pods.filter((pod) => pod.ready && !isFailing(pod, judgement)).length;
  return { ready, failing, total: pods.length };
}

/** Those that are failing and older than the rollout: an earlier attempt has left them, so they say nothing of this one. */
export function earlierFailures(pods: readonly ObservedPod[], judgement: Judgement): ObservedPod[] {
  return pods.filter((pod) => pod.createdAt < judgement.since && isFailing(pod, judgement));
}

/** A pod is failing when it crashes, has restarted too often, or has not been ready for too long. */
function isFailing(pod: ObservedPod, { analysis, since, now }: Judgement): boolean {
  if (pod.crashing || now >= lateAt(pod, analysis)) return true;
  return pod.createdAt >= since && pod.restarts > analysis.maximumRestarts;
}

/** The next moment at which a pod that is not ready becomes a failing one, if nothing changes; undefined when there is none. */
export function nextFailure(pods: readonly ObservedPod[], { analysis, now }: Judgement): number | undefined {
  return earliest(pods.map((pod) => lateAt(pod, analysis)).filter((at) => at > now && at < Infinity));
}

/** How many of some pods are failing. */
type FailingShare = Pick<PodCounts, 'failing' | 'total'>;

/**
 * Why the canary is worse than the bound allows: the share of its pods that are failing exceeds that of the stable revision by more than
 * `maximumFailingPercent`. What fails alike under both is not the canary's fault. Undefined when it is not, and while it has no pods.
 * @param before the pods of the stable revision when the rollout began. The canary is compared with them as well once less than half as many are left,
 *   since few or none tell nothing in the end; not sooner, or a bad moment at the beginning would hide a bad canary from then on.
 */
export function worsening(
  canary: FailingShare,
  stable: FailingShare,
  { maximumFailingPercent }: Pick<CanaryAnalysis, 'maximumFailingPercent'>,
  before: FailingShare = { failing: 0, total: 0 },
): string | undefined {
  const isWithin = (other: FailingShare): boolean => {
    // Compared as integers: with 10 % of 3 pods no rounding is to decide.
    const total = Math.max(other.total, 1);
    const excess = canary.failing * total - other.failing * canary.total;
    return 100 * excess <= maximumFailingPercent * canary.total * total;
  };
  const areFewLeft = 2 * stable.total < before.total;
  if (isWithin(stable) || (areFewLeft && isWithin(before))) return undefined;
  const share = ({ failing, total }: FailingShare): string => `${failing} of ${total}`;
  return `${share(canary)} pods of the canary are failing, and ${share(stable)} of the stable revision: more than ${maximumFailingPercent} percent worse (spec.strategy.canary.analysis.maximumFailingPercent)`;
}

/**
 * When the evidence of a step is complete if nothing changes: as many pods as are needed have been ready, since the step began, for
 * `minReadySeconds`. Milliseconds since 1970; undefined when too few are ready.
 */
export function evidenceAt(
  pods: readonly ObservedPod[],
  { needed, stepSince }: { readonly needed: number; readonly stepSince: number },
  judgement: Judgement,
): number | undefined {
  const proven = pods
    .filter((pod) => pod.ready && !isFailing(pod, judgement))
    .map((pod) => Math.max(pod.since, stepSince) + judgement.analysis.minReadySeconds * 1000)
    .sort((one, other) => one - other);
  return proven[needed - 1];
}

/** The smallest of some moments. */
export function earliest(moments: readonly (number | undefined)[]): number | undefined {
  return moments.reduce(
    (first, moment) => (first === undefined || (moment !== undefined && moment < first) ? moment : first),
    undefined,
  );
}

function lateAt(pod: ObservedPod, { readyTimeout }: CanaryAnalysis): number {
  return pod.ready ? Infinity : pod.since + durationMilliseconds(readyTimeout);
}
