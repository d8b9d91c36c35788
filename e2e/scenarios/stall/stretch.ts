import type { AuditLog } from '../../harness/audit-log.ts';
import { reportLoad } from '../../harness/load/load-report.ts';
import type { PodLoad } from '../../harness/load/pod-load.ts';
import type { Standstill } from '../../harness/standstill/standstill.ts';
import type { MainThread } from './main-thread.ts';
import type { LeaseFigures, LeaseRecord } from './lease-record.ts';

/** What innocent pods met in a stretch of time. */
export interface StretchFigures {
  readonly created: number;
  readonly lost: string[];
  /** Milliseconds at the client, of those that failed too. */
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly maxMilliseconds: number;
  /** The same without what the machine, or the API server, stood still meanwhile, or the operator's thread waited for a processor. */
  readonly ownP99Milliseconds: number;
  readonly lease: LeaseFigures;
}

/** Innocent creations, and what is beside them. */
export interface Witnesses {
  readonly loads: readonly PodLoad[];
  readonly audit: AuditLog;
  readonly lease: LeaseRecord;
  readonly standstill: Standstill;
  /** The attacked one. */
  readonly thread: MainThread;
}

/** Below this no creation is looked at more closely. */
const quick = 100;

/** What was asked for between two times, in milliseconds since 1970. */
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
      // The two overlap where the machine is busy: only the longer one counts.
      return time - Math.max(thread.waitedBetween(startedAt, endedAt), await standstill.between(startedAt, endedAt));
    }),
  );
  return {
    created: reports.reduce((sum, { created }) => sum + created, 0),
    lost: reports.flatMap(({ lost }) => lost.map(({ description }) => description)),
    p50Milliseconds: quantile(times, 0.5),
    p99Milliseconds: quantile(times, 0.99),
    maxMilliseconds: quantile(times, 1),
    ownP99Milliseconds: quantile(own, 0.99),
    lease: lease.between(from, to),
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
