import type { PodCounts, PodState } from './judge-pod.ts';
import type { PodUsage } from './pod-usage.ts';
import { noPods } from './usage-subject.ts';

/** The usage that the metrics export. */
export interface UsageFigures {
  /** The pods of each InjectorConfig (empty if deleted) and tag (empty if none). */
  readonly pods: readonly {
    readonly injectorConfig: string;
    readonly tag: string;
    readonly counts: Readonly<PodCounts>;
  }[];
  /** The pods of up to {@link shownNamespaces} namespaces, and {@link otherNamespaces}. */
  readonly namespaces: readonly { readonly namespace: string; readonly counts: Readonly<PodCounts> }[];
}

export const shownNamespaces = 100;
/** The entry for all other namespaces. It is not a valid name of a namespace. */
export const otherNamespaces = '(others)';

/**
 * Returns a bounded number of figures: for existing InjectorConfigs, tags, and the namespaces with
 * the most stale and missing pods. @param known the InjectorConfigs that exist
 */
export function usageFigures(usage: PodUsage, known: ReadonlySet<string>): UsageFigures {
  const pods = new Map<string, UsageFigures['pods'][number] & { counts: PodCounts }>();
  for (const { injectorConfig, tag, counts } of usage.totals()) {
    const shown = known.has(injectorConfig) ? injectorConfig : '';
    const key = `${shown} ${tag}`;
    const sum = pods.get(key) ?? { injectorConfig: shown, tag, counts: noPods() };
    addTo(sum.counts, counts);
    pods.set(key, sum);
  }
  const toDo = ({ stale, missing }: Readonly<PodCounts>): number => stale + missing;
  const namespaces = [...usage.namespaces()].sort(
    ([one, counts], [other, others]) =>
      toDo(others) - toDo(counts) || others.current - counts.current || (one < other ? -1 : 1),
  );
  const others = noPods();
  for (const [, counts] of namespaces.slice(shownNamespaces)) addTo(others, counts);
  const shown = namespaces.slice(0, shownNamespaces).map(([namespace, counts]) => ({ namespace, counts }));
  return {
    pods: [...pods.values()],
    namespaces:
      namespaces.length > shownNamespaces ? [...shown, { namespace: otherNamespaces, counts: others }] : shown,
  };
}

function addTo(sum: PodCounts, counts: Readonly<PodCounts>): void {
  for (const state of Object.keys(sum) as PodState[]) sum[state] += counts[state];
}
