import { durationMilliseconds } from '../api/duration.ts';
import type { CanaryAnalysis, CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutPodCounts, RolloutState } from '../api/revision-tag/revision-tag.ts';
import type { ObservedPod } from './observation.ts';

/** The rules and times for judging pods. Times are in milliseconds since 1970. */
export interface Judgement {
  readonly analysis: CanaryAnalysis;
  /** The start of the rollout. The restarts of older pods do not count. */
  readonly since: number;
  readonly now: number;
}

/** Returns the rules for judging pods now. Outside a rollout, restarts do not count. */
export function judgementOf(
  { startedAt, canary }: Pick<RolloutState, 'startedAt' | 'canary'>,
  { analysis }: CanaryStrategy,
  now: Date,
): Judgement {
  // Creation times are whole seconds: a pod from the second of the start may be newer.
  const isOver = startedAt === undefined || canary === undefined;
  const since = isOver ? Infinity : Math.floor(Date.parse(startedAt) / 1000) * 1000;
  return { analysis, since, now: now.getTime() };
}

/** Counts the pods of one revision. A failing pod does not count as ready. */
export function countPods(pods: readonly ObservedPod[], judgement: Judgement): RolloutPodCounts {
  const failing = pods.filter((pod) => isFailing(pod, judgement)).length;
  const ready = pods.filter((pod) => pod.ready && !isFailing(pod, judgement)).length;
  return { ready, failing, total: pods.length };
}

/** Returns the failing pods that are older than the rollout. They come from an earlier attempt. */
export function earlierFailures(pods: readonly ObservedPod[], judgement: Judgement): ObservedPod[] {
  return pods.filter((pod) => pod.createdAt < judgement.since && isFailing(pod, judgement));
}

/** Describes the first two failing pods, as `pod shop/web-1, container hello: CrashLoopBackOff`. */
export function describeFailing(pods: readonly ObservedPod[], judgement: Judgement): string {
  const failing = pods.filter((pod) => isFailing(pod, judgement));
  failing.sort((one, other) => (one.name < other.name ? -1 : 1));
  const parts = failing.slice(0, 2).map(({ name, ready, since, restarts, trouble }) => {
    const late = ready ? '' : `, not ready since ${new Date(since).toISOString()}`;
    const why = trouble === undefined ? late : `, ${trouble}`;
    return `pod ${name}${why}${restarts > 0 ? `, restarts: ${restarts}` : ''}`;
  });
  return [...parts, ...(failing.length > 2 ? [`and ${failing.length - 2} more`] : [])].join('; ');
}

/** Reports whether a pod crashes, has restarted too often, or has been unready for too long. */
function isFailing(pod: ObservedPod, { analysis, since, now }: Judgement): boolean {
  if (pod.crashing || now >= lateAt(pod, analysis)) return true;
  return pod.createdAt >= since && pod.restarts > analysis.maximumRestarts;
}

/** Returns when the next unready pod counts as failing if nothing changes. */
export function nextFailure(pods: readonly ObservedPod[], { analysis, now }: Judgement): number | undefined {
  return earliest(pods.map((pod) => lateAt(pod, analysis)).filter((at) => at > now && at < Infinity));
}

type FailingShare = Pick<RolloutPodCounts, 'failing' | 'total'>;

/** Reports whether a share exceeds another one by more than some percentage points. */
export function isWorse(canary: FailingShare, other: FailingShare, maximumFailingPercent: number): boolean {
  // Compare integers, because a rounding error could decide (10 % of 3 pods).
  const total = Math.max(other.total, 1);
  const excess = canary.failing * total - other.failing * canary.total;
  return 100 * excess > maximumFailingPercent * canary.total * total;
}

/**
 * Returns a message if the share of failing canary pods exceeds the share of failing stable pods by
 * more than `maximumFailingPercent` percentage points, and undefined otherwise.
 * @param before the stable pods when the rollout began. Once less than half as many remain, it is
 *   enough that the canary is within the bound of `before`. With more, this would hide a bad one.
 */
export function worsening(
  canary: FailingShare,
  stable: FailingShare,
  { maximumFailingPercent }: Pick<CanaryAnalysis, 'maximumFailingPercent'>,
  before: FailingShare = { failing: 0, total: 0 },
): string | undefined {
  const isWithin = (other: FailingShare): boolean => !isWorse(canary, other, maximumFailingPercent);
  const areFewLeft = 2 * stable.total < before.total;
  if (isWithin(stable) || (areFewLeft && isWithin(before))) return undefined;
  const share = ({ failing, total }: FailingShare): string => `${failing} of ${total}`;
  return `${share(canary)} pods of the canary are failing, and ${share(stable)} of the stable revision: more than ${maximumFailingPercent} percent worse (spec.strategy.canary.analysis.maximumFailingPercent)`;
}

/**
 * Returns when `needed` pods will have been ready for `minReadySeconds` within the step if nothing
 * changes, in milliseconds since 1970. Returns undefined while fewer pods are ready.
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
