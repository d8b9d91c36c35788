import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, leaderLeaseName } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { leases } from '../../operator/cluster-view.ts';
import { readReplicaLease, replicaOf } from '../../operator/replicas/replica-lease.ts';
import { formatUntil, plural } from '../report/write-report.ts';

type Lease = KubernetesObject & {
  spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
};

/** A process of an operator, as its Lease says. */
interface Sign {
  readonly operatorClass: string;
  readonly namespace: string;
  /** A replica's name, or who leads. */
  readonly name: string;
  readonly version: string | undefined;
  /** RFC 3339, seconds: when it was heard of last; undefined when never, or when it has given the Lease back. */
  readonly last: string | undefined;
  readonly isLive: boolean;
}

/** Which operators are alive. What an operator has written of the cluster is true while it leads, and of the last moment in which it did. */
export interface OperatorHealth {
  /** Classes of the objects that are looked at. */
  readonly asked: readonly string[];
  readonly replicas: readonly Sign[];
  readonly leaders: readonly Sign[];
  /** By our clock, milliseconds. */
  readonly readAt: number;
  /** Why nothing is known: Leases may not be read. */
  readonly unreadable?: string;
}

/** That what an operator has written may have changed. */
export interface Stale {
  /** RFC 3339; undefined when nobody has ever led. */
  readonly since: string | undefined;
}

/** A Lease that has not been renewed for so long by our clock is looked at twice: clocks of machines differ. Milliseconds. */
const doubtfulAfter = 20_000;
/** Longer than a replica (5 s) or a leader (2 s) takes to renew. Milliseconds. */
const secondLookAfter = 6_000;

/**
 * Reads who is alive. A Lease that seems old is read again a little later: one that has changed until then is somebody's.
 * @param operatorClasses of the objects that are looked at
 */
export async function readOperatorHealth(
  client: Pick<ApiClient, 'listAll'>,
  operatorClasses: Iterable<string>,
  now: () => number = Date.now,
  pause: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<OperatorHealth> {
  const asked = [...new Set(operatorClasses)].sort();
  const read = async (): Promise<Lease[]> => {
    const lists = await Promise.all([
      client.listAll<Lease>(leases, { labelSelector: labelNames.replica }),
      ...asked.map((each) =>
        client.listAll<Lease>(leases, { fieldSelector: `metadata.name=${leaderLeaseName(each)}` }),
      ),
    ]);
    return lists.flatMap(({ items }) => items);
  };
  try {
    const first = await read();
    const isRecent = ({ spec }: Lease): boolean => Math.abs(now() - Date.parse(spec?.renewTime ?? '')) < doubtfulAfter;
    const doubtful = first.filter((lease) => holderOf(lease) !== '' && !isRecent(lease));
    if (doubtful.length > 0) await pause(secondLookAfter);
    const seen = doubtful.length === 0 ? first : await read();
    const before = new Map(first.map((lease) => [lease.metadata.uid, lease.metadata.resourceVersion]));
    const isLive = (lease: Lease): boolean =>
      holderOf(lease) !== '' && (isRecent(lease) || before.get(lease.metadata.uid) !== lease.metadata.resourceVersion);
    const signs = seen.map((lease) => ({ lease, sign: signOf(lease, isLive(lease)) }));
    const isReplica = ({ metadata }: Lease): boolean => metadata.labels?.[labelNames.replica] !== undefined;
    return {
      asked,
      readAt: now(),
      replicas: signs.filter(({ lease }) => isReplica(lease)).map(({ sign }) => sign),
      leaders: signs.filter(({ lease }) => !isReplica(lease)).map(({ sign }) => sign),
    };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    return { asked, replicas: [], leaders: [], readAt: now(), unreadable: error.message };
  }
}

function holderOf({ spec }: Lease): string {
  return spec?.holderIdentity ?? '';
}

function signOf(lease: Lease, isLive: boolean): Sign {
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

/** Since when nobody keeps an object of this class true; undefined while somebody does, and where that is not known. */
export function staleSince({ leaders, unreadable }: OperatorHealth, operatorClass: string): Stale | undefined {
  const leader = leaders.find((each) => each.operatorClass === operatorClass);
  return leader?.isLive === true || unreadable !== undefined ? undefined : { since: leader?.last };
}

/** Whether somebody answers admissions and somebody leads, for each class that was asked for; also where that is not known. */
export function isAlive({ asked, replicas, leaders, unreadable }: OperatorHealth): boolean {
  const isLiveIn = (signs: readonly Sign[], operatorClass: string): boolean =>
    signs.some((sign) => sign.operatorClass === operatorClass && sign.isLive);
  return unreadable !== undefined || asked.every((each) => isLiveIn(replicas, each) && isLiveIn(leaders, each));
}

/** One line for each operator class: `2 replicas live, version 0.1.0; web-1 leads; status as of 2s ago`. */
export function healthLines({ asked, replicas, leaders, readAt, unreadable }: OperatorHealth): string[] {
  if (unreadable !== undefined) return [`whether an operator is running is not known: ${unreadable}`];
  const classes = [...new Set([...asked, ...replicas.map(({ operatorClass }) => operatorClass)])].sort();
  return classes.map((operatorClass) => {
    const own = replicas.filter((each) => each.operatorClass === operatorClass);
    const leader = leaders.find((each) => each.operatorClass === operatorClass);
    const prefix = classes.length === 1 ? '' : `operator class ${operatorClass}: `;
    if (own.length === 0 && leader === undefined)
      return `${prefix}no operator runs here, so pods that webhooks select are refused; injector install installs one`;
    return `${prefix}${replicaText(own)}; ${leaderText(leader, readAt)}`;
  });
}

function replicaText(replicas: readonly Sign[]): string {
  const live = replicas.filter(({ isLive }) => isLive);
  const versions = [...new Set(live.flatMap(({ version }) => version ?? []))].sort();
  if (live.length > 0)
    return `${plural(live.length, 'replica')} live${versions.length === 0 ? '' : `, version ${versions.join(' and ')}`}`;
  const [last] = replicas
    .map((each) => each.last ?? '')
    .sort()
    .reverse();
  return `no replica is live${last === undefined || last === '' ? '' : ` since ${last}`}: pods that webhooks select are refused`;
}

function leaderText(leader: Sign | undefined, now: number): string {
  if (leader === undefined) return 'nobody has led yet';
  if (leader.isLive) return `${leader.name} leads; status as of ${formatUntil(leader.last, now)}`;
  return `nobody leads since ${leader.last ?? 'an unknown time'}: what is said of objects is of then`;
}
