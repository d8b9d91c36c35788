import type { RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import type { PodUpdate } from '../../api/revision-tag/update-annotation.ts';
import type { KeyedWorkload, RestartCandidate, RestartHold } from '../../rollout/restart-candidate.ts';
import { type RolloutWorkload, workloadKey } from '../../routing/workload-key.ts';
import { forEach, type Steps } from '../../steps/steps.ts';
import type { JudgedGroup, RestartInputs } from '../restarts/restart-candidates.ts';
import type { PodGroup, PodRecord } from '../usage/pod-group.ts';
import type { StaleWorkload, UpdateVerdict } from './update-verdicts.ts';

/** How a tag updates pods in place. */
export interface TagUpdates {
  readonly verdictOf: (tag: string, workload: Omit<StaleWorkload, 'pods'>) => UpdateVerdict | undefined;
  /** Whether the operator may restart workloads whose pods cannot be updated in place. */
  readonly mayRestart: boolean;
}

/** A pod whose update in place is under way, and its workload. */
export interface UpdatingPod extends KeyedWorkload {
  readonly tag: string;
  /** The time of the update, in milliseconds since 1970. */
  readonly at: number;
}

/** Returns the workloads with stale pods that a tag selects. */
export function staleWorkloadsOf(tag: string, groups: Iterable<PodGroup>): StaleWorkload[] {
  const found = new Map<string, StaleWorkload & { readonly pods: PodRecord[] }>();
  for (const { traits, pods, judgements } of groups) {
    const judgement = judgements.find(({ state, selectedBy }) => state === 'stale' && selectedBy?.tag === tag);
    const { injectorConfig, hash } = judgement?.selectedBy ?? {};
    if (injectorConfig === undefined || hash === undefined) continue;
    const key = workloadKey({ namespace: traits.namespace, ...traits.workload });
    const known = found.get(key) ?? { key, target: `${injectorConfig}.${hash}`, pods: [] };
    known.pods.push(...pods.values());
    found.set(key, known);
  }
  return [...found.values()].filter(({ pods }) => pods.length > 0);
}

/** How far the clock of an earlier leader may be ahead, in milliseconds. */
const clockSkewMs = 300_000;

/**
 * Reports whether a record counts. Only pods that the tag injects count: admission removes the
 * record from these when they are created. Elsewhere, and if its time lies far ahead, an author has
 * written it, and must not use up the bounds of others.
 * @param now in milliseconds since 1970
 */
function counts({ at }: PodUpdate, state: JudgedGroup['state'], now: number): boolean {
  return (state === 'current' || state === 'stale') && at <= now + clockSkewMs;
}

/** Returns the states in which the tag of the record of a pod judges it, if the record counts. */
function recordedStates({ update, group }: PodRecord, now: number): JudgedGroup['state'][] {
  if (update === undefined) return [];
  const own = group?.judgements.filter(({ selectedBy }) => selectedBy?.tag === update.tag) ?? [];
  return own.map(({ state }) => state).filter((state) => counts(update, state, now));
}

/** A pod with a record of an update, and its workload. */
interface RecordedPod {
  readonly pod: PodRecord;
  readonly workload: RolloutWorkload;
  readonly update: PodUpdate;
}

/**
 * Returns the pods whose update is to be followed, or whose record is obsolete.
 * @param now in milliseconds since 1970
 */
export function podsToFollow(pods: Iterable<PodRecord>, now: number): RecordedPod[] {
  return [...pods].flatMap((pod) => {
    const { update, group } = pod;
    if (update === undefined || group === undefined) return [];
    const isFollowed = recordedStates(pod, now).some((state) => state === 'current' || update.failed === undefined);
    const { namespace, workload } = group.traits;
    return isFollowed ? [{ pod, workload: { namespace, ...workload }, update }] : [];
  });
}

/** Returns the updates in place that are under way, for any tag. */
export function updatingPods(pods: Iterable<PodRecord>, now: number): UpdatingPod[] {
  const followed = podsToFollow(pods, now).filter(({ update }) => update.failed === undefined);
  return followed.map(({ workload, update: { tag, at } }) => ({ key: workloadKey(workload), ...workload, tag, at }));
}

/** Adds to the candidates of a restart what decides about updates of their pods in place. */
export function* updateCandidates(
  tag: string,
  own: readonly RestartCandidate[],
  { podsOf, records }: Pick<RestartInputs, 'podsOf' | 'records'>,
  { verdictOf, mayRestart }: TagUpdates,
  now: number,
): Steps<RestartCandidate[]> {
  const candidates: RestartCandidate[] = [];
  yield* forEach(own, (candidate) => {
    const { key, target, stale, hold, leftOut, completeSince } = candidate;
    const groups = podsOf(key);
    const pods = groups.flatMap(({ group }) => [...group.pods.values()]);
    const updates = groups.flatMap(({ group, state }) =>
      [...group.pods.values()].filter(({ update }) => update?.tag === tag && counts(update, state, now)),
    );
    const failure = updates.find(({ update }) => update?.failed !== undefined && update.target === target);
    const updating = updates.filter(({ update }) => update?.failed === undefined).length;
    // An excluded workload does not stop the others.
    const isLeftAlone = candidate.isExcluded === true || candidate.denied !== undefined;
    const updateFailed = isLeftAlone
      ? undefined
      : failure && `pod ${failure.metadata.name ?? ''}: ${failure.update?.failed ?? ''}`;
    const verdict = verdictOf(tag, { key, target });
    const obstacle = (candidate.missing ?? 0) > 0 ? noSidecar : verdict?.obstacle;
    const isBlocked = obstacle !== undefined;
    const kept = pods.find((pod) => pod.update?.tag !== tag && recordedStates(pod, now).length > 0);
    const isReady = updating === 0 && pods.every(({ health }) => health?.ready === true);
    // Without a record, only the pods tell whether the workload is complete.
    const complete = records.has(key) ? completeSince : 0;
    candidates.push({
      ...candidate,
      updating,
      updateFailed,
      ...(updating > 0 && { completeSince: undefined }),
      ...(stale > 0 && !isBlocked && { isInPlace: true, completeSince: isReady ? complete : undefined }),
      ...(stale > 0 &&
        !isBlocked && { hold: keptBy(kept) ?? whyNotCompared(verdict?.problem, verdict !== undefined) ?? hold }),
      ...(isBlocked &&
        !mayRestart && { leftOut: leftOut ?? { reason: 'NeedsRestart', message: obstacleOf(obstacle) } }),
    });
  });
  return candidates;
}

/** Returns what is expected of the stale workloads, for the status. */
export function* expected(
  tag: string,
  candidates: readonly RestartCandidate[],
  { verdictOf }: Pick<TagUpdates, 'verdictOf'>,
): Steps<NonNullable<RestartStatus['inPlace']>> {
  let [workloads, byRestart, notCompared] = [0, 0, 0];
  let obstacle: string | undefined;
  yield* forEach(candidates, (candidate) => {
    if (candidate.stale === 0 || candidate.leftOut?.reason === 'NotAsked') return;
    const verdict =
      (candidate.missing ?? 0) > 0 ? { obstacle: noSidecar, problem: undefined } : verdictOf(tag, candidate);
    if (verdict === undefined || verdict.problem !== undefined) notCompared += 1;
    else if (verdict.obstacle === undefined) workloads += 1;
    else {
      byRestart += 1;
      obstacle ??= `${candidate.key}: ${obstacleOf(verdict.obstacle)}`.slice(0, 512);
    }
  });
  return { workloads, byRestart, notCompared, ...(obstacle !== undefined && { obstacle }) };
}

/** Keeps pods without a sidecar (`restart.missing`) from being updated in place. */
const noSidecar = { field: 'spec', reason: 'a pod has no sidecar, and Kubernetes cannot add one' };

function obstacleOf({ field, reason }: { readonly field: string; readonly reason: string }): string {
  return `its pods cannot be updated in place: ${field}: ${reason}`;
}

/** The record of another tag would be lost, and with it why that update failed. */
function keptBy(pod: PodRecord | undefined): RestartHold | undefined {
  if (pod?.update === undefined) return undefined;
  const message = `pod ${pod.metadata.name ?? ''} has the record of an update by RevisionTag ${pod.update.tag}`;
  return { reason: 'OtherTag', message };
}

function whyNotCompared(problem: string | undefined, isJudged: boolean): RestartHold | undefined {
  if (problem !== undefined) return { reason: 'NotCompared', message: problem, isFailure: true };
  return isJudged ? undefined : { reason: 'NotCompared', message: 'its pods have not been compared with new ones yet' };
}
