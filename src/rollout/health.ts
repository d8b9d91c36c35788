import { durationMilliseconds } from '../api/duration.ts';
import type { CanaryAnalysis, CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { PodCounts, RolloutState } from '../api/revision-tag/revision-tag.ts';
import type { ObservedPod } from './observation.ts';

/** The rules and times for judging pods. Times are in milliseconds since 1970. */
export interface Judgement {
  readonly analysis: CanaryAnalysis;
  /** When the rollout began. Restarts of older pods do not count. */
  readonly since: number;
  readonly now: number;
}

/** Returns how to judge pods now. Outside a rollout, restarts do not count. */
export function judgementOf(
  { startedAt, canary }: Pick<RolloutState, 'startedAt' | 'canary'>,
  { analysis }: CanaryStrategy,
  now: Date,
): Judgement {
  // Creation times have whole seconds: a pod of the second in which the rollout began is not older.
  const isOver = startedAt === undefined || canary === undefined;
  const since = isOver ? Infinity : Math.floor(Date.parse(startedAt) / 1000) * 1000;
  return { analysis, since, now: now.getTime() };
}

/** Counts the pods of one revision. A failing pod does not count as ready. */
export function countPods(pods: readonly ObservedPod[], judgement: Judgement): PodCounts {
  const failing = pods.filter((pod) => isFailing(pod, judgement)).length;
  const ready = pods.filter((pod) => pod.ready && !isFailing(pod, judgement)).length;
  return { ready, failing, total: pods.length };
}

/** Returns the failing pods that are older than the rollout: an earlier attempt left them. */
export function earlierFailures(pods: readonly ObservedPod[], judgement: Judgement): ObservedPod[] {
  return pods.filter((pod) => pod.createdAt < judgement.since && isFailing(pod, judgement));
}

/** Reports whether a pod crashes, has restarted too often, or has been unready for too long. */
function isFailing(pod: ObservedPod, { analysis, since, now }: Judgement): boolean {
  if (pod.crashing || now >= lateAt(pod, analysis)) return true;
  return pod.createdAt >= since && pod.restarts > analysis.maximumRestarts;
}

/** Returns when the next unready pod becomes failing if nothing changes. */
export function nextFailure(pods: readonly ObservedPod[], { analysis, now }: Judgement): number | undefined {
  return earliest(pods.map((pod) => lateAt(pod, analysis)).filter((at) => at > now && at < Infinity));
}

type FailingShare = Pick<PodCounts, 'failing' | 'total'>;
/**
 * Returns why the canary is worse than the bound allows: the failing share of its pods exceeds that
 * of the stable revision by more than `maximumFailingPercent` percentage points. Undefined when it
 * does not, or when the canary has no pods.
 * @param before the stable pods when the rollout began. Once less than half as many remain, the
 *   canary may instead be within the bound of these; earlier, a bad start would hide a bad canary.
 */
export function worsening(
  canary: FailingShare,
  stable: FailingShare,
  { maximumFailingPercent }: Pick<CanaryAnalysis, 'maximumFailingPercent'>,
  before: FailingShare = { failing: 0, total: 0 },
): string | undefined {
  const isWithin = (other: FailingShare): boolean => {
    // Compare integers, so that rounding does not decide (10 % of 3 pods).
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
 * Returns when the evidence of a step is complete if nothing changes, in milliseconds since 1970:
 * enough pods have been ready for `minReadySeconds` since the step began. Undefined when too few
 * are ready.
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

/** Returns the earliest of some times. */
export function earliest(moments: readonly (number | undefined)[]): number | undefined {
  return moments.reduce(
    (first, moment) => (first === undefined || (moment !== undefined && moment < first) ? moment : first),
    undefined,
  );
}

function lateAt(pod: ObservedPod, { readyTimeout }: CanaryAnalysis): number {
  return pod.ready ? Infinity : pod.since + durationMilliseconds(readyTimeout);
}
