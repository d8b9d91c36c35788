import { durationMilliseconds } from '../api/duration.ts';
import type { CanaryAnalysis } from '../api/rollout-strategy.ts';
import type { PodCounts } from '../api/rollout-status.ts';
import type { ObservedPod } from './observation.ts';

/** Pods of one revision, counted. `ready` are those that are ready and do not count as failing. */
export function countPods(pods: readonly ObservedPod[], analysis: CanaryAnalysis, now: number): PodCounts {
  const failing = pods.filter((pod) => isFailing(pod, analysis, now));
  const ready = pods.filter((pod) => pod.ready && !isFailing(pod, analysis, now));
  return { ready: ready.length, failing: failing.length, total: pods.length };
}

/** A pod is failing when it crashes, has restarted too often, or has not been ready for too long. */
export function isFailing(pod: ObservedPod, analysis: CanaryAnalysis, now: number): boolean {
  return pod.crashing || pod.restarts > analysis.maximumRestarts || now >= lateAt(pod, analysis);
}

/** The next moment at which a pod that is not ready becomes a failing one, if nothing changes; undefined when there is none. */
export function nextFailure(pods: readonly ObservedPod[], analysis: CanaryAnalysis, now: number): number | undefined {
  return earliest(pods.map((pod) => lateAt(pod, analysis)).filter((at) => at > now));
}

/**
 * Why the canary is worse than the bound allows: the share of its pods that are failing exceeds that of the stable revision by more than
 * `maximumFailingPercent`. What fails alike under both is not the canary's fault. Undefined when it is not, and while it has no pods.
 */
export function worsening(canary: PodCounts, stable: PodCounts, analysis: CanaryAnalysis): string | undefined {
  const { maximumFailingPercent } = analysis;
  // Compared as integers: with 10 % of 3 pods no rounding is to decide.
  const excess = canary.failing * Math.max(stable.total, 1) - stable.failing * canary.total;
  if (100 * excess <= maximumFailingPercent * canary.total * Math.max(stable.total, 1)) return undefined;
  const share = ({ failing, total }: PodCounts): string => `${failing} of ${total}`;
  return `${share(canary)} pods of the canary are failing, and ${share(stable)} of the stable revision: more than ${maximumFailingPercent} percent worse (spec.strategy.canary.analysis.maximumFailingPercent)`;
}

/**
 * When the evidence of a step is complete if nothing changes: as many pods as are needed have been ready, within the step, for `minReadySeconds`.
 * Milliseconds since 1970; undefined when too few are ready.
 */
export function evidenceAt(
  pods: readonly ObservedPod[],
  { needed, since }: { readonly needed: number; readonly since: number },
  analysis: CanaryAnalysis,
  now: number,
): number | undefined {
  const proven = pods
    .filter((pod) => pod.ready && !isFailing(pod, analysis, now))
    .map((pod) => Math.max(pod.since, since) + analysis.minReadySeconds * 1000)
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
