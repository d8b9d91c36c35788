import type { AuditEvent, AuditLog } from '../../harness/audit-log.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** The sum of the samples of a metric whose labels contain a text. */
export function sumOf(metrics: string, metric: string, label = ''): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  return lines
    .filter((line) => line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** What a user asked the API server for, watches and Leases apart; oldest first. */
export function requestsOf(audit: AuditLog, username: string): AuditEvent[] {
  return audit
    .events()
    .filter(
      ({ user, verb, objectRef }) => user.username === username && verb !== 'watch' && objectRef?.resource !== 'leases',
    );
}

/**
 * Which requests these are, each once. An edit passes through more statuses, or fewer, by how fast a replica loads it; of how much there is that tells
 * nothing. The parts of names that differ from one edit to the next (hashes, times) are left out.
 */
export function kindsOfRequests(requests: readonly AuditEvent[]): Set<string> {
  return new Set(
    requests.map(({ verb, objectRef }) => {
      const { resource = '', subresource = '', namespace = '', name = '' } = objectRef ?? {};
      return [verb, resource, subresource, namespace, name.replace(/[-.][0-9a-f]{8,}$/, '')].join(' ');
    }),
  );
}

/** Waits until a user has asked for nothing for so many milliseconds, by the API server's own record. */
export async function waitForQuiet(audit: AuditLog, username: string, milliseconds: number): Promise<void> {
  const from = Date.now();
  await waitFor(`${username} to ask for nothing`, () => {
    const last = requestsOf(audit, username).at(-1)?.stageTimestamp;
    return Date.now() - Math.max(from, last === undefined ? 0 : Date.parse(last)) >= milliseconds;
  });
}

/**
 * How a figure grows with the size of everything: 0, not at all; 1, as the whole does; 2, as the product of two parts of it does. The slope of the
 * least squares through the logarithms.
 */
export function exponentOf(points: readonly { readonly size: number; readonly value: number }[]): number {
  const logs = points.map(({ size, value }) => [Math.log(size), Math.log(Math.max(value, 1e-9))] as const);
  const mean = (index: 0 | 1): number => logs.reduce((sum, point) => sum + point[index], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  const variance = logs.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return Math.round((covariance / variance) * 100) / 100;
}
