import type { RestartStrategy } from '../../api/revision-tag/rollout-strategy.ts';
import type { RolloutRevision } from '../../api/revision-tag/revision-tag.ts';
import {
  type CoveringBudget,
  isRecent,
  lateAt,
  type OtherRestart,
  type RestartCandidate,
  type RestartHold,
  type RestartSituation,
} from '../../rollout/restart-candidate.ts';
import type { Refusal } from '../../rollout/observation.ts';
import { isRefused } from '../../rollout/refusals.ts';
import { isRestartable } from '../../rollout/restart-reasons.ts';
import { forEach, type Steps } from '../../steps/steps.ts';
import { type RolloutWorkload, workloadKey } from '../../routing/workload-key.ts';
import type { PodJudgement } from '../usage/judge-pod.ts';
import { newestPod, type PodGroup, type PodRecord } from '../usage/pod-group.ts';
import type { RestartCompletion, Completions } from './completions.ts';
import { type BudgetRecord, coveringBudgets } from './disruption-budget.ts';
import { recordedWorkload, type WorkloadRecord } from './workload-record.ts';
import { carriedBy } from '../usage/pod-traits.ts';

/** Finds the watched Deployments, StatefulSets and DaemonSets. */
export interface WorkloadLookup {
  get(kind: string, namespace: string, name: string): WorkloadRecord | undefined;
}

export interface RestartSources {
  readonly tag: string;
  /** The judged pods that follow the tag. */
  readonly groups: Iterable<PodGroup>;
  readonly workloads: WorkloadLookup;
  readonly budgets: Iterable<BudgetRecord>;
  readonly completions: Pick<Completions, 'of' | 'annotated'>;
  /** The refusals of pods that follow the tag. */
  readonly refusals?: readonly Refusal[];
  /** `status.rollout.startedAt`, in ms since 1970. Earlier restarts no longer count. */
  readonly rolloutStartedAt?: number | undefined;
  /** Returns why a workload must wait, and whether it comes last, for reasons outside its pods. */
  readonly holdOf?: (
    candidate: Pick<RestartCandidate, 'key' | 'namespace' | 'target'>,
  ) => Pick<RestartCandidate, 'hold' | 'isDeferred'>;
  /** Returns why a namespace denies restarts. */
  readonly deniedIn?: (namespace: string) => RestartHold | undefined;
  /** `status.rollout.rolledBackFrom`. */
  readonly rolledBackFrom?: RolloutRevision | undefined;
  /** Whether to restart only workloads with `rolledBackFrom` (only `rollback.restart` is set). */
  readonly isRollbackOnly: boolean;
  /** Whether the tag updates pods in place, also of workloads that cannot be restarted. */
  readonly isInPlace?: boolean;
  /** Pods created within `readyTimeout` count as pods of the restart. */
  readonly bounds: Pick<RestartStrategy, 'readyTimeout' | 'missing'>;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
}

/** Pods with equal traits, and their judgement for the tag. */
export interface JudgedGroup {
  readonly group: PodGroup;
  readonly state: PodJudgement['state'];
}

/** The judged pods of one workload. */
interface PodsOfWorkload {
  readonly workload: RolloutWorkload;
  readonly groups: JudgedGroup[];
  stale: number;
  missing?: number;
  target?: string;
  rolledBack: boolean;
  /** Whether a pod records an update in place for the tag. */
  isUpdated: boolean;
  leftOut?: RestartHold | undefined;
}

const notRequested = {
  reason: 'NotAsked',
  message: 'its pods do not have the canary that was rolled back (spec.strategy.rollback.restart)',
};
const notPublished = { reason: 'NotPublished', message: 'the tag has no webhook: new pods would get no sidecar' };
const gone = { reason: 'NoController', message: 'the workload does not exist: recreate its pods yourself' };

const noBudgets: readonly CoveringBudget[] = [];

/** The inputs of a restart plan for a tag. */
export interface RestartInputs extends Pick<RestartSituation, 'own' | 'others'> {
  /** The records of the watched workloads in `own`, by key. A write needs their resourceVersion. */
  readonly records: ReadonlyMap<string, WorkloadRecord>;
  /** Returns the judged pods of a workload. */
  readonly podsOf: (key: string) => readonly JudgedGroup[];
  /** Returns the sorted configurations of a workload's stale pods, as `N.<hash8>`. */
  readonly previous: (key: string) => readonly string[];
  /** The workloads whose target has changed since their restart. */
  readonly overtaken: readonly WorkloadRecord[];
}

/**
 * Collects the workloads with stale pods that the tag selects, and all workloads with our
 * annotation, except workloads that are being deleted. May miss changes between steps; a write to
 * a changed workload then fails.
 */
export function* restartCandidates(sources: RestartSources): Steps<RestartInputs> {
  const { tag, workloads, budgets, completions, now, bounds, rolloutStartedAt = -Infinity, holdOf } = sources;
  const pods = yield* podsByWorkload(sources);
  const refusals = new Map(sources.refusals?.map((each) => [workloadKey(each), each]));
  const budgetsIn = byNamespace(budgets);
  const own: RestartCandidate[] = [];
  const others: OtherRestart[] = [];
  const records = new Map<string, WorkloadRecord>();
  const overtaken: WorkloadRecord[] = [];
  const seen = new Set<string>();
  const add = (key: string, record: WorkloadRecord, completion: RestartCompletion): void => {
    const workload = { key, ...recordedWorkload(record) };
    seen.add(key);
    const found = pods.get(key);
    const { restarts, completeSince, completedFor, progressedAt } = completion;
    const { stale = 0, missing } = found ?? {};
    const denied = sources.deniedIn?.(workload.namespace);
    // An excluded workload does not count against the bounds.
    const isLeftAlone = record.isExcluded || denied !== undefined;
    const mine = isLeftAlone ? undefined : restarts.find((each) => each.tag === tag);
    const target = found?.target ?? mine?.target ?? '';
    if (mine !== undefined && mine.target !== target) overtaken.push(record);
    const [latest] = restarts;
    const isOther = latest !== undefined && latest.tag !== tag && !isLeftAlone && isRecent(latest.at, now);
    const isOwn = stale > 0 || found?.isUpdated === true || (mine !== undefined && isRecent(mine.at, now));
    if (!isOther && !isOwn) return;
    // There may be ten thousand completed workloads: look up budgets only if they matter.
    const isStale = stale > 0 && found?.leftOut === undefined;
    const needsBudgets = isStale || completeSince === undefined || found?.isUpdated === true;
    const covering = needsBudgets ? coveringBudgets(record, budgetsIn.get(workload.namespace) ?? []) : noBudgets;
    if (isOther) {
      others.push({ ...workload, tag: latest.tag, at: latest.at, completeSince, completedFor, budgets: covering });
    }
    if (!isOwn) return;
    const { updateType, partition, paused, isExcluded, isInjectedByHand } = record;
    const isUnfinished = completeSince === undefined && completedFor === undefined;
    const until = mine === undefined || isUnfinished ? Infinity : lateAt(mine.at, completion, bounds);
    const newPodCounts = mine && newPods(found?.groups ?? [], mine.at, until, now);
    const refusal = refusals.get(key);
    const delay = stale > 0 ? holdOf?.({ ...workload, target }) : undefined;
    records.set(key, record);
    own.push({
      ...workload,
      stale,
      missing,
      target,
      restarted: mine && {
        target: mine.target,
        at: mine.at,
        isLost: !record.restarts.some((each) => each.tag === tag && each.at === mine.at),
        isOvertaken: completion.overtaken.has(tag) || mine.at < rolloutStartedAt,
      },
      completeSince,
      completedFor,
      progressedAt,
      ...newPodCounts,
      refused: refusal && isRefusedNow(refusal, found?.groups ?? [], now, mine?.at) ? refusal : undefined,
      updateType,
      partition,
      paused,
      isExcluded,
      denied,
      isInjectedByHand,
      rolledBack: found?.rolledBack ?? false,
      hold: delay?.hold,
      leftOut: found?.leftOut,
      isDeferred: delay?.isDeferred ?? false,
      budgets: covering,
    });
  };
  for (const record of completions.annotated()) {
    if (!record.isBeingDeleted) add(workloadKey(recordedWorkload(record)), record, completions.of(record));
    yield;
  }
  for (const [key, { workload, stale, missing, isUpdated, target = '', leftOut: found }] of pods) {
    if (seen.has(key) || (stale === 0 && !isUpdated)) continue;
    const { namespace, kind, name } = workload;
    const record = isRestartable(kind) ? workloads.get(kind, namespace, name) : undefined;
    if (record === undefined) {
      // Without a pod template, every budget of the namespace may cover the pods.
      const covering =
        sources.isInPlace === true
          ? coveringBudgets({ metadata: { namespace }, labels: undefined }, budgetsIn.get(namespace) ?? [])
          : noBudgets;
      const denied = sources.deniedIn?.(namespace);
      const delay = sources.isInPlace === true && stale > 0 ? holdOf?.({ key, namespace, target }) : {};
      own.push({
        key,
        ...workload,
        stale,
        missing,
        target,
        leftOut: found ?? (sources.isInPlace === true && !isRestartable(kind) ? undefined : gone),
        paused: false,
        denied,
        ...delay,
        budgets: covering,
      });
    } else if (!record.isBeingDeleted) add(key, record, completions.of(record));
    yield;
  }
  const podsOf: RestartInputs['podsOf'] = (key) => pods.get(key)?.groups ?? [];
  return { own, others, records, overtaken, podsOf, previous: (key) => staleConfigurations(podsOf(key)) };
}

function* podsByWorkload({
  tag,
  groups,
  rolledBackFrom,
  isRollbackOnly,
  isInPlace,
  bounds,
}: RestartSources): Steps<Map<string, PodsOfWorkload>> {
  const found = new Map<string, PodsOfWorkload>();
  yield* forEach([...groups], (group) => {
    const { traits, pods, judgements } = group;
    const judgement = judgements.find(({ selectedBy }) => selectedBy?.tag === tag);
    if (pods.size === 0 || judgement?.selectedBy === undefined) return;
    const workload = { namespace: traits.namespace, ...traits.workload };
    const key = workloadKey(workload);
    const known: PodsOfWorkload = found.get(key) ?? {
      workload,
      groups: [],
      stale: 0,
      rolledBack: false,
      isUpdated: false,
    };
    found.set(key, known);
    const { injectorConfig, hash } = judgement.selectedBy;
    if (hash !== undefined) {
      known.groups.push({ group, state: judgement.state });
      known.target = `${injectorConfig}.${hash}`;
    }
    if (isInPlace === true) known.isUpdated ||= [...pods.values()].some(({ update }) => update?.tag === tag);
    if (!isReplaced(judgement, bounds)) return;
    if (judgement.state === 'missing') known.missing = (known.missing ?? 0) + pods.size;
    const { carried } = judgement;
    const isRolledBack =
      carried !== undefined && carried.name === rolledBackFrom?.injectorConfig && carried.hash === rolledBackFrom.hash;
    known.rolledBack ||= isRolledBack;
    known.stale += pods.size;
    const isRequested = known.rolledBack || !isRollbackOnly;
    known.leftOut = hash === undefined ? notPublished : isRequested ? undefined : notRequested;
  });
  return found;
}

/** The number of container restarts above which a running pod, too, counts as crashing. */
const restartsAllowed = 2;
/** The restarts per hour that a crashing pod exceeds: the kubelet backs off for 5 min at most. */
const restartsAnHour = 4;
const hourMs = 3_600_000;

/**
 * Counts the pods created by a restart that crash or have no sidecar. Times are in ms since 1970.
 * @param from the time of the restart
 * @param to the time after which new pods have another cause
 */
function newPods(
  groups: readonly JudgedGroup[],
  from: number,
  to: number,
  now: number,
): Pick<RestartCandidate, 'crashing' | 'uninjected'> {
  const since = Math.floor(from / 1000);
  let [crashing, uninjected] = [0, 0];
  for (const { group, state } of groups) {
    for (const pod of group.pods.values()) {
      const { createdAt = 0 } = pod;
      // Creation times are whole seconds: a stale pod from the same second is an old pod.
      const isNew = (createdAt > since || (createdAt === since && state !== 'stale')) && createdAt * 1000 <= to;
      if (isNew && isCrashing(pod, now < to, now)) crashing += 1;
      if (isNew && state === 'missing') uninjected += 1;
    }
  }
  return { crashing, uninjected };
}

/** Reports whether pods that a workload has needed since a restart are refused now. */
function isRefusedNow(refusal: Refusal, groups: readonly JudgedGroup[], now: number, restarted?: number): boolean {
  // If a pod with the target exists, the target is not the cause.
  if (groups.some(({ state }) => state === 'current')) return false;
  return isRefused({ ...refusal, newestPod: newestPod(groups.map(({ group }) => group)) }, now, restarted);
}

/** @param isFresh whether the restart is recent; later, only pods that keep crashing count */
function isCrashing({ createdAt = 0, health }: PodRecord, isFresh: boolean, now: number): boolean {
  if (health === undefined) return false;
  const { crashing, restarts } = health;
  if (isFresh) return crashing || restarts > restartsAllowed;
  return restarts > Math.max(restartsAllowed, ((now - createdAt * 1000) / hourMs) * restartsAnHour);
}

function byNamespace(budgets: Iterable<BudgetRecord>): Map<string, BudgetRecord[]> {
  const found = new Map<string, BudgetRecord[]>();
  for (const budget of budgets) {
    const { namespace = '' } = budget.metadata;
    const known = found.get(namespace);
    if (known === undefined) found.set(namespace, [budget]);
    else known.push(budget);
  }
  return found;
}

/** Reports whether a pod is stale, or has no sidecar although a restart would give it one. */
function isReplaced({ state, isTaken }: PodJudgement, { missing }: Pick<RestartStrategy, 'missing'>): boolean {
  return state === 'stale' || (missing && state === 'missing' && isTaken !== true);
}

/** Returns the number of workloads with pods to be replaced that a tag selects. */
export function staleWorkloads(
  tag: string,
  groups: Iterable<PodGroup> | undefined,
  bounds: Pick<RestartStrategy, 'missing'>,
): number {
  const found = new Set<string>();
  for (const { traits, judgements } of groups ?? []) {
    const isStale = judgements.some((each) => each.selectedBy?.tag === tag && isReplaced(each, bounds));
    if (isStale) found.add(workloadKey({ namespace: traits.namespace, ...traits.workload }));
  }
  return found.size;
}

/** Returns the sorted configurations of the stale pods, as `N.<hash8>`, for Events. */
export function staleConfigurations(groups: readonly JudgedGroup[]): readonly string[] {
  const configurations = new Set<string>();
  for (const { group, state } of groups) {
    if (state !== 'stale') continue;
    for (const { name, hash } of carriedBy(group.traits)) configurations.add(`${name}.${hash}`);
  }
  return [...configurations].sort();
}
