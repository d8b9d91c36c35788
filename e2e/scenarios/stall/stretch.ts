import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import { follow } from '../../harness/follow.ts';
import { reportLoad } from '../../harness/load/losses.ts';
import type { PodLoad } from '../../harness/load/pod-load.ts';
import { quantile } from '../../harness/quantile.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { schedulerTimes } from '../../harness/scheduler-times.ts';
import type { Standstill } from '../../harness/standstill/standstill.ts';
import { waitFor } from '../../harness/wait-for.ts';

export interface StretchFigures {
  readonly created: number;
  readonly lost: string[];
  /** The latencies that the client measured in milliseconds, including failed requests. */
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly maxMilliseconds: number;
  /** The p99 without stalls of the machine or the API server, and without waits for a processor. */
  readonly p99WithoutStandstillMilliseconds: number;
  readonly lease: LeaseFigures;
}

export interface Witnesses {
  readonly loads: readonly PodLoad[];
  readonly audit: AuditLog;
  readonly lease: LeaseRecord;
  readonly standstill: Standstill;
  readonly thread: MainThread;
}

/** The latency in milliseconds up to which stalls are not subtracted. */
const quick = 100;

/** Returns figures on pods that were requested between two times (ms since 1970). */
export async function judgeStretch(witnesses: Witnesses, from: number, to: number): Promise<StretchFigures> {
  const { loads, audit, lease, standstill, thread } = witnesses;
  const events = audit.events();
  const reports = loads.map((load) => reportLoad(load, events, { askedSince: from, askedBefore: to }));
  const creations = loads
    .flatMap((load) => load.creations)
    .filter(({ startedAt }) => startedAt >= from && startedAt < to);
  const times = creations.map(({ startedAt, endedAt }) => endedAt - startedAt);
  const own = await Promise.all(
    creations.map(async ({ startedAt, endedAt }) => {
      const time = endedAt - startedAt;
      if (time <= quick) return time;
      // On a busy machine, waits and stalls overlap, so subtract only the longer time.
      return time - Math.max(thread.waitedBetween(startedAt, endedAt), await standstill.between(startedAt, endedAt));
    }),
  );
  return {
    created: reports.reduce((sum, { created }) => sum + created, 0),
    lost: reports.flatMap(({ lost }) => lost.map(({ description }) => description)),
    p50Milliseconds: quantile(times, 0.5),
    p99Milliseconds: quantile(times, 0.99),
    maxMilliseconds: quantile(times, 1),
    p99WithoutStandstillMilliseconds: quantile(own, 0.99),
    lease: lease.between(from, to),
  };
}

interface Lease extends KubernetesObject {
  spec?: { holderIdentity?: string; renewTime?: string; leaseTransitions?: number };
}

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');

interface LeaseFigures {
  readonly holders: string[];
  readonly transitions: number;
  readonly renewals: number;
  /** The longest time between two renewals, or from the last renewal to the end, in ms. */
  readonly longestGap: number;
}

export type LeaseRecord = Awaited<ReturnType<typeof recordLease>>;

/** Records every version of the leader's Lease with a watch. */
export async function recordLease(context: ScenarioContext, namespace: string, holder: string) {
  const seen: { holder: string; renewedAt: number; transitions: number }[] = [];
  const name = await waitFor('the leader to hold its Lease', async () => {
    const { items } = await context.client.listAll<Lease>(leases, { namespace });
    const held = items.find(({ spec }) => spec?.leaseTransitions !== undefined && spec.holderIdentity === holder);
    return held?.metadata.name;
  });
  const selected = { namespace, fieldSelector: `metadata.name=${name}` };
  await follow(context, leases, selected, ({ spec = {} }: Lease) => {
    const renewedAt = Date.parse(spec.renewTime ?? '');
    if (seen.at(-1)?.renewedAt === renewedAt) return;
    seen.push({ holder: spec.holderIdentity ?? '', renewedAt, transitions: spec.leaseTransitions ?? 0 });
  });
  const between = (from: number, to: number): LeaseFigures => {
    const known = seen.filter(({ renewedAt }) => renewedAt <= to);
    const before = known.findLast(({ renewedAt }) => renewedAt <= from);
    const within = known.filter(({ renewedAt }) => renewedAt > from);
    const all = before === undefined ? within : [before, ...within];
    const times = [...all.map(({ renewedAt }) => renewedAt), to];
    const [first] = all;
    return {
      holders: [...new Set(all.map(({ holder }) => holder))],
      transitions: (all.at(-1)?.transitions ?? 0) - (first?.transitions ?? 0),
      renewals: within.length,
      longestGap: Math.max(0, ...times.slice(1).map((time, index) => time - (times[index] ?? time))),
    };
  };
  return { between };
}

/** The time between two samples, in milliseconds. */
const interval = 25;

/** Samples the scheduler statistics of a process's main thread. */
export class MainThread {
  readonly #pid: number;
  readonly #looks: { at: number; waited: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  /** Samples until `stop` is called. */
  constructor(pid: number) {
    this.#pid = pid;
    const look = (): void => {
      this.#looks.push({ at: Date.now(), waited: this.#read().waited });
    };
    look();
    this.#timer = setInterval(look, interval);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Returns how long the thread has run on a processor, in milliseconds. */
  ran(): number {
    return this.#read().ran;
  }

  /** Returns how long the thread waited for a processor between two times, in milliseconds. */
  waitedBetween(from: number, to: number): number {
    const before = this.#looks.findLast(({ at }) => at <= from) ?? this.#looks[0];
    const after = this.#looks.find(({ at }) => at >= to) ?? this.#looks.at(-1);
    return Math.min(to - from, Math.max(0, (after?.waited ?? 0) - (before?.waited ?? 0)));
  }

  #read(): { ran: number; waited: number } {
    // If the process has ended, repeat the last value. The scenario checks the process elsewhere.
    return schedulerTimes(this.#pid) ?? { ran: 0, waited: this.#looks.at(-1)?.waited ?? 0 };
  }
}
