import { noPods, type PodCounts, type PodState } from './judge-pod.ts';
import type { PodTotals } from './pod-usage.ts';

/** The usage that the metrics export. */
export interface UsageFigures {
  /** The pods of each InjectorConfig (empty if deleted) and tag (empty if none). */
  readonly pods: readonly PodTotals[];
  /** The pods of up to {@link shownNamespaces} namespaces, and {@link otherNamespaces}. */
  readonly namespaces: readonly { readonly namespace: string; readonly counts: Readonly<PodCounts> }[];
}

export const shownNamespaces = 100;
/** The entry for all other namespaces. It is not a valid name of a namespace. */
export const otherNamespaces = '(others)';

/**
 * Returns a bounded number of figures: for existing InjectorConfigs, tags, and the namespaces with
 * the most stale and missing pods.
 * @param usage the counts of each namespace, by subject, and each pod once
 * @param exists whether an InjectorConfig exists
 */
export function usageFigures(
  usage: Iterable<readonly [namespace: string, totals: Iterable<PodTotals>, counts: Readonly<PodCounts>]>,
  exists: (injectorConfig: string) => boolean,
): UsageFigures {
  const pods = new Map<string, PodTotals & { readonly counts: PodCounts }>();
  const all: [namespace: string, counts: Readonly<PodCounts>][] = [];
  for (const [namespace, totals, here] of usage) {
    for (const { injectorConfig, tag, counts } of totals) {
      const shown = exists(injectorConfig) ? injectorConfig : '';
      const key = `${shown} ${tag}`;
      const sum = pods.get(key) ?? { injectorConfig: shown, tag, counts: noPods() };
      addTo(sum.counts, counts);
      pods.set(key, sum);
    }
    if (here.current + here.stale + here.missing > 0) all.push([namespace, { ...here }]);
  }
  const toDo = ({ stale, missing }: Readonly<PodCounts>): number => stale + missing;
  const namespaces = all.sort(
    ([one, counts], [other, others]) =>
      toDo(others) - toDo(counts) || others.current - counts.current || (one < other ? -1 : 1),
  );
  const others = noPods();
  for (const [, counts] of namespaces.slice(shownNamespaces)) addTo(others, counts);
  const shown = namespaces.slice(0, shownNamespaces).map(([namespace, counts]) => ({ namespace, counts }));
  const isCut = namespaces.length > shownNamespaces;
  return {
    pods: [...pods.values()],
    namespaces: isCut ? [...shown, { namespace: otherNamespaces, counts: others }] : shown,
  };
}

function addTo(sum: PodCounts, counts: Readonly<PodCounts>): void {
  for (const state of Object.keys(sum) as PodState[]) sum[state] += counts[state];
}
