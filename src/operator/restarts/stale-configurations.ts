import { workloadKey } from '../../rollout/workload-key.ts';
import type { PodGroup } from '../usage/pod-group.ts';

/** Whether any pod that a tag takes is stale. */
export function hasStale(tag: string, groups: readonly PodGroup[]): boolean {
  return groups.some((group) => isStale(tag, group));
}

/** What the stale pods of each workload have (`N.<hash8>`, sorted), by `workloadKey`; for Events. Costs what the groups are. */
export function staleConfigurations(tag: string, groups: Iterable<PodGroup>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const group of groups) {
    if (!isStale(tag, group)) continue;
    const { traits } = group;
    const key = workloadKey({ namespace: traits.namespace, ...traits.workload });
    const configurations = found.get(key) ?? new Set();
    for (const entry of traits.injectedBy.split(',')) if (entry !== '') configurations.add(entry);
    found.set(key, configurations);
  }
  return new Map([...found].map(([key, configurations]) => [key, [...configurations].sort()]));
}

function isStale(tag: string, { judgements }: PodGroup): boolean {
  return judgements.some(({ state, taker }) => state === 'stale' && taker?.tag === tag);
}
