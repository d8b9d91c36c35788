import type { PodCounts } from '../usage/usage-report.ts';

/** `15 (3 stale, 1 missing)`: how many pods have to do with something, and what is not as it would be now. */
export function formatPodCounts({ current, stale, missing }: PodCounts): string {
  const apart = [stale > 0 ? `${stale} stale` : '', missing > 0 ? `${missing} missing` : ''].filter(Boolean);
  return `${current + stale + missing}${apart.length === 0 ? '' : ` (${apart.join(', ')})`}`;
}

/** The first five names of a list, and how many there are when there are more. */
export function formatNames(names: readonly string[]): string {
  if (names.length === 0) return '-';
  return names.length <= 5 ? names.join(',') : `${names.slice(0, 5).join(',')}… (${names.length})`;
}

/** `2 namespaces`, `1 pod`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
