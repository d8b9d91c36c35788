import type { CanaryAnalysis } from '../api/revision-tag/rollout-strategy.ts';
import { printable } from '../api/printable-text.ts';
import { getsCanary, workloadKey } from '../routing/workload-key.ts';
import { isWorse } from './health.ts';
import type { ObservedRefusal, Refusal, RolloutObservation } from './observation.ts';
import { boundedError } from './shadow-report.ts';
import type { ActiveState } from './transitions.ts';

/** What the message of a FailedCreate Event says about a pod. */
export interface RefusalReason {
  /** Whether the pod violates the API server's own validation (code 422). */
  readonly isInvalid: boolean;
  /** See {@link Refusal.message}. */
  readonly message: string;
}

/** The part of a message that is read, in characters; authors can write longer messages. */
const longestMessage = 4096;
/** The prefixes that the event recorder and the controllers of Kubernetes 1.36 write. */
const prefix =
  /^(\(combined from similar events\): )?(Error creating: |[Cc]reate Pod \S+ in StatefulSet \S+ failed error: )?/;
const invalid = /^Pod "[^"]*" is invalid: /;
const forbidden = /^pods "[^"]*" is forbidden: /;
const denied = /^admission webhook "[^"]*" denied the request/;

/**
 * Reads the message of a FailedCreate Event. Returns undefined if it is not an answer about
 * the pod: for example, a webhook that could not be called says nothing about the configuration.
 */
export function readRefusal(text: string): RefusalReason | undefined {
  const answer = text.slice(0, longestMessage).replace(prefix, '');
  const isInvalid = invalid.test(answer);
  if (!isInvalid && !forbidden.test(answer) && !denied.test(answer)) return undefined;
  const withoutName = answer.replace(invalid, 'the pod is invalid: ').replace(forbidden, 'the pod is forbidden: ');
  return { isInvalid, message: boundedError(printable(withoutName)) };
}

/** When refusals began, and the latest one, in milliseconds since 1970. */
export type RefusalTimes = Pick<Refusal, 'since' | 'at'>;

/** The bounds of the time between two attempts, in ms: the back-off of client-go ends at 1000 s. */
const attempts = { shortest: 10_000, longest: 1_200_000 };

/**
 * Reports whether refusals have ended. Controllers double the time between two attempts: if three
 * times the time of all attempts has passed without a refusal, they have succeeded or given up. If
 * only one attempt is known, others may precede it.
 */
export function isOver({ since, at }: RefusalTimes, now: number): boolean {
  const expected = at === since ? Infinity : Math.max(attempts.shortest, 3 * (at - since));
  return now - at > Math.min(attempts.longest, expected);
}

/**
 * Adds a refusal to earlier ones, unless they have ended before.
 * @param first the first attempt of the same Event
 */
export function addRefusal(known: RefusalTimes | undefined, at: number, first = at): RefusalTimes {
  if (known === undefined || isOver(known, first)) return { since: first, at };
  return { since: Math.min(known.since, first), at: Math.max(known.at, at) };
}

/** How long pods must be refused, in milliseconds: a quota may be free again in a moment. */
const graceMs = 10_000;
/** How late a refusal must be, in milliseconds: API servers learn of a new path with a delay. */
const propagationMs = 2000;

/**
 * Reports whether the pods of a workload are refused now.
 * @param from the time from which pods get the configuration that is judged, in ms since 1970: they
 *   must have been refused for a while since then. If it is undefined, the first refusal counts.
 */
export function isRefused(
  refusal: Pick<ObservedRefusal, 'since' | 'at' | 'newestPod'>,
  now: number,
  from?: number,
): boolean {
  const { since, at, newestPod } = refusal;
  if (at <= newestPod || isOver(refusal, now)) return false;
  if (from === undefined) return true;
  const began = Math.max(since, newestPod, from);
  return at >= began + propagationMs && now >= began + graceMs;
}

/** The workloads of one revision, and those whose pods are refused. */
export interface RefusedShare {
  readonly workloads: number;
  readonly namespaces: number;
  readonly refused: readonly Refusal[];
}

/** The shares of a rollout. */
interface RefusedShares {
  readonly canary: RefusedShare;
  readonly stable: RefusedShare;
}

/**
 * Returns the workloads of the canary and of stable whose pods are refused. A workload whose pods
 * were refused when the rollout began counts for the canary only if the operator has a proof.
 * @param now in milliseconds since 1970
 */
export function refusedShares(
  { threshold, startedAt = '', stepStartedAt }: Pick<ActiveState, 'threshold' | 'startedAt' | 'stepStartedAt'>,
  { workloads, refusals = [] }: Pick<RolloutObservation, 'workloads' | 'refusals'>,
  now: number,
): RefusedShares {
  const share = (isCanary: boolean, isCounted: (refusal: ObservedRefusal) => boolean): RefusedShare => {
    const isIn = ({ rank }: { readonly rank: string }): boolean => getsCanary(rank, threshold) === isCanary;
    const refused = refusals.filter((each) => isIn(each) && isCounted(each));
    // If all pods of a workload are refused, no pod shows that the workload exists.
    const namespaces = new Map([...workloads.filter(isIn), ...refused].map(({ rank, namespace }) => [rank, namespace]));
    return { workloads: namespaces.size, namespaces: new Set(namespaces.values()).size, refused };
  };
  // The times of Events are whole seconds.
  const begunSecond = Math.floor(Date.parse(startedAt) / 1000) * 1000;
  const isNew = ({ since, newestPod, verdict }: ObservedRefusal): boolean =>
    verdict === 'Proven' || newestPod > since || !(since < begunSecond);
  return {
    canary: share(true, (each) => !each.isAccepted && isNew(each) && isRefused(each, now, Date.parse(stepStartedAt))),
    stable: share(false, (each) => isRefused(each, now)),
  };
}

/**
 * Returns the refusals that speak against a configuration: the proven ones, or else all unproven
 * ones, if they come from two namespaces (or there is only one), and if their share exceeds that of
 * `others`, which also count from two namespaces on. The author of one namespace can fill its quota
 * and forge Events.
 * @param tried the workloads with the configuration
 * @param maximumPercent by how many percentage points the share may exceed that of `others`
 */
export function blamedRefusals(tried: RefusedShare, others: RefusedShare, maximumPercent: number): readonly Refusal[] {
  const proven = tried.refused.filter(({ verdict }) => verdict === 'Proven');
  if (proven.length > 0) return proven;
  const unproven = tried.refused.filter(({ verdict }) => verdict !== 'Own');
  if (isFromOne(unproven, tried)) return [];
  const share = { failing: unproven.length, total: tried.workloads };
  const other = { failing: isFromOne(others.refused, others) ? 0 : others.refused.length, total: others.workloads };
  return isWorse(share, other, maximumPercent) ? unproven : [];
}

/** Reports whether refusals come from one of several namespaces, or from none. */
function isFromOne(refused: readonly Refusal[], { namespaces }: RefusedShare): boolean {
  return new Set(refused.map(({ namespace }) => namespace)).size < Math.min(2, namespaces);
}

/** Returns why refusals require a rollback. */
export function refusalFault(
  { canary, stable }: RefusedShares,
  { maximumFailingPercent }: Pick<CanaryAnalysis, 'maximumFailingPercent'>,
): { readonly reason: 'PodsRefused'; readonly message: string } | undefined {
  const blamed = blamedRefusals(canary, stable, maximumFailingPercent);
  const [first] = blamed;
  if (first === undefined) return undefined;
  const share = ({ length }: readonly Refusal[], { workloads }: RefusedShare): string => `${length} of ${workloads}`;
  const what =
    first.verdict === 'Proven'
      ? 'pods of the canary that are valid with the stable revision'
      : `the pods of ${share(blamed, canary)} workloads of the canary, and of ${share(stable.refused, stable)} of the stable revision: more than ${maximumFailingPercent} percent worse (spec.strategy.canary.analysis.maximumFailingPercent)`;
  return { reason: 'PodsRefused', message: `the API server refuses ${what}: ${describeRefusals(blamed)}` };
}

/** The maximum number of described refusals, and of characters of their description. */
const described = { refusals: 2, characters: 1400 };

/** Describes the first refusals, as `Deployment shop/web (ReplicaSet web-1): the pod is …`. */
export function describeRefusals(refusals: readonly Refusal[]): string {
  const sorted = [...refusals].sort((one, other) => (workloadKey(one) < workloadKey(other) ? -1 : 1));
  const parts = sorted.slice(0, described.refusals).map(({ namespace, kind, name, object, message }) => {
    const creator = object === `${kind} ${name}` ? '' : ` (${object})`;
    return `${kind} ${namespace}/${name}${creator}: ${message}`;
  });
  const more = sorted.length > parts.length ? `; and ${sorted.length - parts.length} more` : '';
  return `${parts.join('; ').slice(0, described.characters)}${more}`;
}
