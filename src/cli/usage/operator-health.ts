import { setTimeout as sleep } from 'node:timers/promises';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, leaderLeaseName } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError, messageOf } from '../../kube/api-error.ts';
import { matchConditionNames } from '../../api/injector-config/match-condition-names.ts';
import { type MutatingWebhook, type PodWebhook, podWebhooks } from '../../explain/pod-webhook.ts';
import { leases, mutatingWebhooks, ownedSelector } from '../../operator/cluster-view.ts';
import { readReplicaLease, replicaOf } from '../../operator/replicas/replica-lease.ts';
import { formatUntil, type OutputFormat, plural } from '../report/write-report.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

type Lease = KubernetesObject & {
  spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
};

/** A process of an operator, from its Lease. */
interface ProcessHealth {
  readonly operatorClass: string;
  readonly namespace: string;
  /** The name of a replica, or of the leader. */
  readonly name: string;
  readonly version: string | undefined;
  /** The last heartbeat (RFC 3339); undefined if there was none, or the Lease was released. */
  readonly last: string | undefined;
  readonly isLive: boolean;
}

/** The live operators. A status is current only while the leader is live. */
export interface OperatorHealth {
  /** The operator classes of the objects in the report; `default` if there is nothing else. */
  readonly asked: readonly string[];
  readonly replicas: readonly ProcessHealth[];
  readonly leaders: readonly ProcessHealth[];
  /** The local time of the read, in milliseconds since 1970. */
  readonly readAt: number;
  /** Why Leases could not be read. */
  readonly unreadable?: string;
  /** What happens to new pods, for each class without a live replica. */
  readonly outages?: ReadonlyMap<string, string>;
}

/** The time since when a status may be outdated. */
export interface Stale {
  /** The leader's last heartbeat, RFC 3339; undefined if there was never a leader. */
  readonly since: string | undefined;
}

/** The age, in milliseconds, after which a Lease is read twice, because clocks differ. */
const doubtfulAfter = 20_000;
/** The time between the reads, in milliseconds; heartbeats are at most 5 s apart. */
const secondReadAfter = 6_000;

/**
 * Reads the live processes. An old Lease is read again later: if it has changed, its holder is
 * live.
 * @param operatorClasses the classes of the objects in the report
 */
export async function readOperatorHealth(
  client: Pick<ApiClient, 'listAll'>,
  operatorClasses: Iterable<string>,
  now: () => number = Date.now,
  pause: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<OperatorHealth> {
  const named = [...new Set(operatorClasses)].sort();
  const read = async (): Promise<Lease[]> => {
    const lists = await Promise.all([
      client.listAll<Lease>(leases, { labelSelector: labelNames.replica }),
      ...named.map((each) =>
        client.listAll<Lease>(leases, { fieldSelector: `metadata.name=${leaderLeaseName(each)}` }),
      ),
    ]);
    return lists.flatMap(({ items }) => items);
  };
  try {
    const first = await read();
    const isRecent = ({ spec }: Lease): boolean => Math.abs(now() - Date.parse(spec?.renewTime ?? '')) < doubtfulAfter;
    const doubtful = first.filter((lease) => holderOf(lease) !== '' && !isRecent(lease));
    if (doubtful.length > 0) await pause(secondReadAfter);
    const seen = doubtful.length === 0 ? first : await read();
    const before = new Map(first.map((lease) => [lease.metadata.uid, lease.metadata.resourceVersion]));
    const isLive = (lease: Lease): boolean =>
      holderOf(lease) !== '' && (isRecent(lease) || before.get(lease.metadata.uid) !== lease.metadata.resourceVersion);
    const processes = seen.map((lease) => ({ lease, sign: processHealth(lease, isLive(lease)) }));
    const isReplica = ({ metadata }: Lease): boolean => metadata.labels?.[labelNames.replica] !== undefined;
    const replicas = processes.filter(({ lease }) => isReplica(lease)).map(({ sign }) => sign);
    const leaders = processes.filter(({ lease }) => !isReplica(lease)).map(({ sign }) => sign);
    const asked = named.length + replicas.length === 0 ? ['default'] : named;
    const classes = new Set([...asked, ...replicas.map((each) => each.operatorClass)]);
    const without = [...classes].filter((each) => !replicas.some((one) => one.operatorClass === each && one.isLive));
    const outages = await Promise.all(without.map(async (each) => [each, await readOutage(client, each)] as const));
    return { asked, readAt: now(), replicas, leaders, outages: new Map(outages) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    return { asked: named, replicas: [], leaders: [], readAt: now(), unreadable: error.message };
  }
}

const outcomes = {
  Fail: 'the API server refuses pods that webhooks select',
  Ignore: 'pods that webhooks select start without a sidecar',
  Hold: 'pods of workloads that webhooks select wait for their sidecar',
} as const;

/** Returns what happens to new pods while no replica answers, from the live webhooks of a class. */
async function readOutage(client: Pick<ApiClient, 'listAll'>, operatorClass: string): Promise<string> {
  try {
    const { items } = await client.listAll(mutatingWebhooks, { labelSelector: ownedSelector(operatorClass) });
    return outageOf(podWebhooks(items));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    return `what happens to new pods is not known: ${messageOf(error)}`;
  }
}

/** Returns what happens to new pods while nothing answers these webhooks. */
export function outageOf(webhooks: readonly Pick<PodWebhook, 'webhook'>[]): string {
  const used = new Set(webhooks.map(({ webhook }) => policyOf(webhook)));
  const policies = (['Fail', 'Hold', 'Ignore'] as const).filter((policy) => used.has(policy));
  if (policies.length === 0) return 'no webhook selects pods, and they start without a sidecar';
  if (policies.join() === 'Fail') return outcomes.Fail;
  return policies.map((policy) => `${outcomes[policy]} (failurePolicy ${policy})`).join(', ');
}

/** Returns the policy of a live webhook. With Hold, that for replaceable pods ignores failures. */
function policyOf({ failurePolicy = 'Fail', matchConditions = [] }: MutatingWebhook): keyof typeof outcomes {
  const isReplaceable = matchConditions.some(({ name }) => name === matchConditionNames.replaceable);
  return isReplaceable && failurePolicy === 'Ignore' ? 'Hold' : failurePolicy;
}

function holderOf({ spec }: Lease): string {
  return spec?.holderIdentity ?? '';
}

function processHealth(lease: Lease, isLive: boolean): ProcessHealth {
  const { metadata, spec } = lease;
  const operatorClass = metadata.labels?.[labelNames.replica];
  const last = spec?.renewTime?.replace(/\.\d+Z$/, 'Z');
  const isReplica = operatorClass !== undefined;
  return {
    operatorClass: operatorClass ?? (metadata.name ?? '').slice(leaderLeaseName('').length),
    namespace: metadata.namespace ?? '',
    name: isReplica ? replicaOf(lease) : holderOf(lease),
    version: isReplica ? readReplicaLease(lease).version : undefined,
    last,
    isLive,
  };
}

/** Returns since when a class has no leader; undefined if a leader is live or unknown. */
export function staleSince({ leaders, unreadable }: OperatorHealth, operatorClass: string): Stale | undefined {
  const leader = leaders.find((each) => each.operatorClass === operatorClass);
  return leader?.isLive === true || unreadable !== undefined ? undefined : { since: leader?.last };
}

/** Reports whether a replica of a class answers; true if Leases are unreadable. */
export function hasLiveReplica({ replicas, unreadable }: OperatorHealth, operatorClass: string): boolean {
  return unreadable !== undefined || replicas.some((each) => each.operatorClass === operatorClass && each.isLive);
}

/** Returns the health of one class. */
export function healthOfClass(health: OperatorHealth, operatorClass: string): OperatorHealth {
  const replicas = health.replicas.filter((each) => each.operatorClass === operatorClass);
  return { ...health, asked: [operatorClass], replicas };
}

/** Reports whether each class has a live replica and a leader; true if Leases are unreadable. */
export function isAlive({ asked, replicas, leaders, unreadable }: OperatorHealth): boolean {
  const isLiveIn = (processes: readonly ProcessHealth[], operatorClass: string): boolean =>
    processes.some((sign) => sign.operatorClass === operatorClass && sign.isLive);
  return unreadable !== undefined || asked.every((each) => isLiveIn(replicas, each) && isLiveIn(leaders, each));
}

/** Formats a line per class: `2 replicas live; web-1 is the leader; status as of 2s ago`. */
export function healthLines({ asked, replicas, leaders, readAt, unreadable, outages }: OperatorHealth): string[] {
  if (unreadable !== undefined) return [`cannot determine whether an operator is running: ${unreadable}`];
  const classes = [...new Set([...asked, ...replicas.map(({ operatorClass }) => operatorClass)])].sort();
  return classes.map((operatorClass) => {
    const own = replicas.filter((each) => each.operatorClass === operatorClass);
    const leader = leaders.find((each) => each.operatorClass === operatorClass);
    const prefix = classes.length === 1 ? '' : `operator class ${operatorClass}: `;
    const outage = outages?.get(operatorClass) ?? outcomes.Fail;
    const remedy = operatorClass === 'default' ? 'run `injector install`' : installOther;
    if (own.length === 0 && leader === undefined) return `${prefix}no operator is running, so ${outage}; ${remedy}`;
    return `${prefix}${replicaText(own, outage)}; ${leaderText(leader, readAt)}`;
  });
}

const installOther = 'install an operator of this class (operator.class of the chart)';

/** Returns the operator classes of the report without any process, each with its remedy. */
export function notInstalled({ asked, replicas, leaders, unreadable }: OperatorHealth) {
  const there = new Set([...replicas, ...leaders].map(({ operatorClass }) => operatorClass));
  const missing = unreadable === undefined ? asked.filter((each) => !there.has(each)) : [];
  return missing.map((operatorClass) => ({
    operatorClass,
    command: operatorClass === 'default' ? 'injector install' : `# ${installOther}`,
  }));
}

function replicaText(replicas: readonly ProcessHealth[], outage: string): string {
  const live = replicas.filter(({ isLive }) => isLive);
  const versions = [...new Set(live.flatMap(({ version }) => version ?? []))].sort();
  if (live.length > 0)
    return `${plural(live.length, 'replica')} live${versions.length === 0 ? '' : `, version ${versions.join(' and ')}`}`;
  const [last] = replicas
    .map((each) => each.last ?? '')
    .sort()
    .reverse();
  return `no replica is live${last === undefined || last === '' ? '' : ` since ${last}`}: ${outage}; start the operator`;
}

function leaderText(leader: ProcessHealth | undefined, now: number): string {
  if (leader === undefined) return 'no leader yet';
  if (leader.isLive) return `${leader.name} is the leader; status as of ${formatUntil(leader.last, now)}`;
  return `no leader since ${leader.last ?? 'an unknown time'}: statuses may be outdated`;
}

/** Prints the health before a table. In other formats, prints only problems, as errors. */
export function tellHealth(terminal: Terminal, format: OutputFormat, health: OperatorHealth): void {
  const lines = healthLines(health);
  if (format === 'table' && lines.length > 0) terminal.out([...lines, '']);
  else if (!isAlive(health)) terminal.error(lines);
  if (!isAlive(health)) terminal.setExitCode(exitCodes.failure);
}

interface Observed {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] } | undefined;
}

/** The readiness of an object, from its conditions. */
export interface Readiness {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
  /** When the last leader was live (RFC 3339); null if there was none; absent while one is live. */
  readonly unknownSince?: string | null;
}

/**
 * Returns the condition of the current spec.
 * @param stale set if no leader is live
 */
export function readinessOf({ metadata, status }: Observed, stale?: Stale, type = 'Ready'): Readiness {
  if (stale !== undefined) {
    const when = stale.since === undefined ? 'there is no leader' : `no leader since ${stale.since}`;
    const message = `${when}: start the operator; until then the state is unknown`;
    return { ready: false, reason: 'Unknown', message, unknownSince: stale.since ?? null };
  }
  const condition = status?.conditions?.find((each) => each.type === type);
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const unseen = 'no operator has reconciled the current spec; check that the operator is running';
  if (condition === undefined || !isSeen) return { ready: false, reason: 'NotLookedAt', message: unseen };
  return { ready: condition.status === 'True', reason: condition.reason, message: condition.message };
}

/** Formats `True`, `False (Paused)`, `False`, or `unknown since 2026-11-22T10:00:00Z`. */
export function formatReadiness({ ready, reason, unknownSince }: Omit<Readiness, 'message'>): string {
  if (unknownSince !== undefined) return unknownSince === null ? 'unknown' : `unknown since ${unknownSince}`;
  if (ready) return 'True';
  return reason === '' ? 'False' : `False (${reason})`;
}
