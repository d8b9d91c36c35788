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
import { isRestartable } from '../../rollout/restart-reasons.ts';
import { forEach, type Steps } from '../../rollout/restart-steps.ts';
import { type RolloutWorkload, workloadKey } from '../../routing/workload-key.ts';
import type { PodJudgement } from '../usage/judge-pod.ts';
import type { PodGroup, PodRecord } from '../usage/pod-group.ts';
import type { Completion, Completions } from './completions.ts';
import { type BudgetRecord, coveringBudgets } from './disruption-budget.ts';
import { workloadOf, type WorkloadRecord } from './workload-record.ts';
import { carriedBy } from '../usage/pod-traits.ts';

/** Where the Deployments, StatefulSets and DaemonSets are found that are followed. */
export interface WorkloadLookup {
  get(kind: string, namespace: string, name: string): WorkloadRecord | undefined;
  /** Every workload that was restarted by us; others among them do no harm. */
  annotated(): Iterable<WorkloadRecord>;
}

export interface RestartSources {
  readonly tag: string;
  /** The pods that follow the tag, judged. */
  readonly groups: Iterable<PodGroup>;
  readonly workloads: WorkloadLookup;
  readonly budgets: Iterable<BudgetRecord>;
  readonly completions: Pick<Completions, 'of'>;
  /** When the rollout of the tag began (`status.rollout.startedAt`): an earlier restart may be overtaken. Milliseconds since 1970. */
  readonly rolloutStartedAt?: number | undefined;
  /** Why a workload is not to be restarted now, or only after others, where something else than its pods says so. */
  readonly heldBy?: (
    candidate: Pick<RestartCandidate, 'key' | 'namespace' | 'target'>,
  ) => Pick<RestartCandidate, 'hold' | 'isDeferred'>;
  /** The canary that was rolled back last (`status.rollout.rolledBackFrom`). */
  readonly rolledBackFrom?: RolloutRevision | undefined;
  /** Whether only workloads with pods of that one are to be restarted (`spec.strategy.rollback.restart` without `spec.strategy.restart`). */
  readonly isRollbackOnly: boolean;
  /** `readyTimeout`: for so long new pods of a workload are those that its restart has made. */
  readonly bounds: Pick<RestartStrategy, 'readyTimeout'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Pods that are alike, and how they are judged for the tag. */
interface JudgedGroup {
  readonly group: PodGroup;
  readonly state: PodJudgement['state'];
}

/** What the pods of one workload say. */
interface PodsOfWorkload {
  readonly workload: RolloutWorkload;
  readonly groups: JudgedGroup[];
  stale: number;
  target?: string;
  rolledBack: boolean;
  leftOut?: RestartHold | undefined;
}

const notAsked = {
  reason: 'NotAsked',
  message: 'its pods are not of the canary that was rolled back (rollback.restart)',
};
const notPublished = { reason: 'NotPublished', message: 'the tag has no webhook now: its pods would get nothing' };
const gone = { reason: 'NoController', message: 'there is no such workload: make its pods anew yourself' };

const noBudgets: readonly CoveringBudget[] = [];

/** What the restarts of a tag depend on, as it was looked at. */
export interface LookedAt extends Pick<RestartSituation, 'own' | 'others'> {
  /** Each of `own` that is followed, by its key: what is written is written onto this version. */
  readonly records: ReadonlyMap<string, WorkloadRecord>;
  /** What the stale pods of a workload have (`N.<hash8>`, sorted), by its key. */
  readonly had: (key: string) => readonly string[];
  /** The workloads whose pods would get something else now than what they were restarted for. */
  readonly overtaken: readonly WorkloadRecord[];
}

/**
 * What the restarts of a tag depend on: the workloads with stale pods that the tag takes, and all that carry our annotation. Workloads that are gone
 * or going are left out. What changes between two steps is seen or not; what is written later is refused where it was not.
 */
export function* restartCandidates(sources: RestartSources): Steps<LookedAt> {
  const { tag, workloads, budgets, completions, now, bounds, rolloutStartedAt = -Infinity, heldBy } = sources;
  const pods = yield* podsByWorkload(sources);
  const budgetsIn = byNamespace(budgets);
  const own: RestartCandidate[] = [];
  const others: OtherRestart[] = [];
  const records = new Map<string, WorkloadRecord>();
  const overtaken: WorkloadRecord[] = [];
  const seen = new Set<string>();
  const look = (key: string, record: WorkloadRecord, completion: Completion): void => {
    const workload = { key, ...workloadOf(record) };
    seen.add(key);
    const found = pods.get(key);
    const { restarts, completeSince, completedFor, progressedAt } = completion;
    const stale = found?.stale ?? 0;
    // What nobody restarts stands in nobody's way either.
    const mine = record.isExcluded ? undefined : restarts.find((each) => each.tag === tag);
    const target = found?.target ?? mine?.target ?? '';
    if (mine !== undefined && mine.target !== target) overtaken.push(record);
    const [latest] = restarts;
    const isOther = latest !== undefined && latest.tag !== tag && !record.isExcluded && isRecent(latest.at, now);
    const isOwn = stale > 0 || (mine !== undefined && isRecent(mine.at, now));
    if (!isOther && !isOwn) return;
    // There may be ten thousand that are done: budgets are asked for only where they count.
    const isAsked = (stale > 0 && found?.leftOut === undefined) || completeSince === undefined;
    const covering = isAsked ? coveringBudgets(record, budgetsIn.get(workload.namespace) ?? []) : noBudgets;
    if (isOther) {
      others.push({ ...workload, tag: latest.tag, at: latest.at, completeSince, completedFor, budgets: covering });
    }
    if (!isOwn) return;
    const { updateType, partition, paused, isExcluded, isInjectedByHand } = record;
    const isUnfinished = completeSince === undefined && completedFor === undefined;
    const until = mine === undefined || isUnfinished ? Infinity : lateAt(mine.at, completion, bounds);
    const made = mine && newPods(found?.groups ?? [], mine.at, until, now);
    const held = stale > 0 ? heldBy?.({ ...workload, target }) : undefined;
    records.set(key, record);
    own.push({
      ...workload,
      stale,
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
      ...made,
      updateType,
      partition,
      paused,
      isExcluded,
      isInjectedByHand,
      rolledBack: found?.rolledBack ?? false,
      hold: held?.hold,
      leftOut: found?.leftOut,
      isDeferred: held?.isDeferred ?? false,
      budgets: covering,
    });
  };
  // As they are now: what changes meanwhile would come twice.
  for (const record of [...workloads.annotated()]) {
    if (record.isLeaving) continue;
    const completion = completions.of(record);
    if (completion.restarts.length > 0) look(workloadKey(workloadOf(record)), record, completion);
    yield;
  }
  for (const [key, { workload, stale, target = '', leftOut = gone }] of pods) {
    if (seen.has(key) || stale === 0) continue;
    const { namespace, kind, name } = workload;
    const record = isRestartable(kind) ? workloads.get(kind, namespace, name) : undefined;
    if (record === undefined) own.push({ key, ...workload, stale, target, leftOut, paused: false, budgets: noBudgets });
    else if (!record.isLeaving) look(key, record, completions.of(record));
    yield;
  }
  return { own, others, records, overtaken, had: (key) => staleConfigurations(pods.get(key)?.groups ?? []) };
}

function* podsByWorkload({
  tag,
  groups,
  rolledBackFrom,
  isRollbackOnly,
}: RestartSources): Steps<Map<string, PodsOfWorkload>> {
  const found = new Map<string, PodsOfWorkload>();
  yield* forEach([...groups], (group) => {
    const { traits, pods, judgements } = group;
    const taken = judgements.find(({ selectedBy }) => selectedBy?.tag === tag);
    if (pods.size === 0 || taken?.selectedBy === undefined) return;
    const workload = { namespace: traits.namespace, ...traits.workload };
    const key = workloadKey(workload);
    const known: PodsOfWorkload = found.get(key) ?? { workload, groups: [], stale: 0, rolledBack: false };
    found.set(key, known);
    const { injectorConfig, hash } = taken.selectedBy;
    if (hash !== undefined) {
      known.groups.push({ group, state: taken.state });
      known.target = `${injectorConfig}.${hash}`;
    }
    if (taken.state !== 'stale') return;
    const { carried } = taken;
    const isRolledBack =
      carried !== undefined && carried.name === rolledBackFrom?.injectorConfig && carried.hash === rolledBackFrom.hash;
    known.rolledBack ||= isRolledBack;
    known.stale += pods.size;
    const isAsked = known.rolledBack || !isRollbackOnly;
    known.leftOut = hash === undefined ? notPublished : isAsked ? undefined : notAsked;
  });
  return found;
}

/** A pod that has restarted more often counts as crashing: between two crashes it looks as if nothing was wrong. */
const restartsAllowed = 2;
/** One that crashes all the time restarts more often: the kubelet waits five minutes at most. */
const restartsAnHour = 4;
const hourMs = 3_600_000;

/**
 * Of the pods that a restart has made, how many crash, and how many have no sidecar.
 * @param from when the workload was restarted; milliseconds since 1970, as the others
 * @param to pods that were made later are somebody else's
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
      // Times of pods are whole seconds: what is stale and was made in the same second was there before.
      const isNew = (createdAt > since || (createdAt === since && state !== 'stale')) && createdAt * 1000 <= to;
      if (isNew && isCrashing(pod, now < to, now)) crashing += 1;
      if (isNew && state === 'missing') uninjected += 1;
    }
  }
  return { crashing, uninjected };
}

/** @param isFresh whether it is not long since the restart; later on only what has crashed ever since is the restart's fault */
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

/** How many workloads have stale pods that a tag takes. */
export function staleWorkloads(tag: string, groups: Iterable<PodGroup> = []): number {
  const found = new Set<string>();
  for (const { traits, judgements } of groups) {
    const isStale = judgements.some(({ state, selectedBy }) => state === 'stale' && selectedBy?.tag === tag);
    if (isStale) found.add(workloadKey({ namespace: traits.namespace, ...traits.workload }));
  }
  return found.size;
}

/** What the stale pods among some have (`N.<hash8>`, sorted); for Events. */
export function staleConfigurations(groups: readonly JudgedGroup[]): readonly string[] {
  const configurations = new Set<string>();
  for (const { group, state } of groups) {
    if (state !== 'stale') continue;
    for (const { name, hash } of carriedBy(group.traits)) configurations.add(`${name}.${hash}`);
  }
  return [...configurations].sort();
}
