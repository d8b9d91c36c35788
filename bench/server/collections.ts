import { constants, type NodeGCPerformanceDetail, PerformanceObserver } from 'node:perf_hooks';

/** The garbage collections of a thread by kind: their number, total and longest milliseconds. */
export type Collections = Readonly<
  Record<string, { readonly count: number; readonly total: number; readonly longest: number }>
>;

const kinds = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'scavenge'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'mark-compact'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak callbacks'],
]);

/** Watches this thread. The result returns the garbage collections since its previous call. */
export function watchCollections(): () => Collections {
  let seen: Record<string, { count: number; total: number; longest: number }> = {};
  const take = (entries: readonly { readonly duration: number; readonly detail?: unknown }[]): void => {
    for (const { duration, detail } of entries) {
      const kind = kinds.get((detail as NodeGCPerformanceDetail).kind) ?? 'other';
      const { count, total, longest } = seen[kind] ?? { count: 0, total: 0, longest: 0 };
      seen[kind] = { count: count + 1, total: total + duration, longest: Math.max(longest, duration) };
    }
  };
  const observer = new PerformanceObserver((list) => {
    take(list.getEntries());
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    take(observer.takeRecords());
    const result = seen;
    seen = {};
    return result;
  };
}

/** Describes collections, such as `40 scavenge of 1.2 ms (2.0 at most)`. */
export function describeCollections(collections: Collections): string {
  const shown = Object.entries(collections).map(
    ([kind, { count, total, longest }]) =>
      `${count} ${kind} of ${(total / count).toFixed(2)} ms (${longest.toFixed(1)} at most)`,
  );
  return shown.length === 0 ? 'none' : shown.join(', ');
}
