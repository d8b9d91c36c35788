import type { AuditEvent, AuditLog } from './audit-log.ts';
import { waitFor } from './wait-for.ts';

/** Sums the samples of a metric whose labels contain a text. */
export function sumOf(metrics: string, metric: string, label = ''): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  const matching = lines.filter((line) => line.includes(label));
  return matching.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Returns a user's requests, oldest first. Omits watches and requests for Leases. */
export function requestsOf(audit: AuditLog, username: string): AuditEvent[] {
  const isCounted = ({ user, verb, objectRef }: AuditEvent) =>
    user.username === username && verb !== 'watch' && objectRef?.resource !== 'leases';
  return audit.events().filter(isCounted);
}

/**
 * Returns the distinct requests, without hashes and times in names. Repeated status writes count
 * once, because their number depends on how fast replicas load an edit.
 */
export function kindsOfRequests(requests: readonly AuditEvent[]): Set<string> {
  return new Set(
    requests.map(({ verb, objectRef }) => {
      const { resource = '', subresource = '', namespace = '', name = '' } = objectRef ?? {};
      return [verb, resource, subresource, namespace, name.replace(/[-.][0-9a-f]{8,}$/, '')].join(' ');
    }),
  );
}

/** Waits until the audit log has had no requests of a user for some milliseconds. */
export async function waitUntilQuiet(audit: AuditLog, username: string, milliseconds: number): Promise<void> {
  const from = Date.now();
  await waitFor(`${username} to send no requests`, () => {
    const last = requestsOf(audit, username).at(-1)?.stageTimestamp;
    return Date.now() - Math.max(from, last === undefined ? 0 : Date.parse(last)) >= milliseconds;
  });
}

/** Calls a function for each index, some at a time. */
export async function many(from: number, to: number, parallel: number, each: (index: number) => Promise<unknown>) {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) await each(next++);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}
