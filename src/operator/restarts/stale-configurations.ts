import type { PodGroup } from '../usage/pod-group.ts';
import type { JudgedGroup } from './new-pods.ts';

/** Whether any pod that a tag takes is stale. */
export function hasStale(tag: string, groups: readonly PodGroup[]): boolean {
  return groups.some(({ judgements }) =>
    judgements.some(({ state, taker }) => state === 'stale' && taker?.tag === tag),
  );
}

/** What the stale pods among some have (`N.<hash8>`, sorted); for Events. */
export function staleConfigurations(groups: readonly JudgedGroup[]): readonly string[] {
  const configurations = new Set<string>();
  for (const { group, state } of groups) {
    if (state !== 'stale') continue;
    for (const entry of group.traits.injectedBy.split(',')) if (entry !== '') configurations.add(entry);
  }
  return [...configurations].sort();
}
