import { runningContainers, type Pod } from './pod.ts';

/**
 * Formats pods as `kubectl get pods` does: NAME READY STATUS RESTARTS AGE. Native sidecars count as
 * containers; other init containers do not count.
 */
export function podTable(pods: Pod[], now: Date): string {
  const rows = pods.map((pod) => [
    pod.metadata.name ?? '',
    readyColumn(pod),
    state(pod),
    String(restarts(pod)),
    age(pod, now),
  ]);
  return alignColumns([['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'], ...rows]);
}

/** Returns the READY column, such as `2/2`. */
export function readyColumn(pod: Pod): string {
  const names = runningContainers(pod);
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const ready = names.filter((name) => statuses.some((each) => each.name === name && each.ready));
  return `${ready.length}/${names.length}`;
}

/** Pads the cells of each column to equal width, with three spaces between columns. */
export function alignColumns(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  return padded.map((row) => row.join('   ').trimEnd()).join('\n');
}

function state(pod: Pod): string {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating';
  const waiting = pod.status?.containerStatuses
    ?.map((each) => each.state?.waiting?.reason)
    .find((reason) => reason !== undefined);
  if (waiting !== undefined) return waiting;
  if (pod.status?.phase === 'Succeeded') return 'Completed';
  return pod.status?.reason ?? pod.status?.phase ?? 'Unknown';
}

function restarts(pod: Pod): number {
  return (pod.status?.containerStatuses ?? []).reduce((sum, each) => sum + each.restartCount, 0);
}

function age(pod: Pod, now: Date): string {
  const created = Date.parse(pod.metadata.creationTimestamp ?? now.toISOString());
  const seconds = Math.max(0, Math.floor((now.getTime() - created) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return `${Math.floor(seconds / 3600)}h`;
}
