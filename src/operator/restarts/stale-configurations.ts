import type { PodGroup } from '../usage/pod-group.ts';
import { carriedBy } from '../usage/pod-traits.ts';
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
    for (const { name, hash } of carriedBy(group.traits)) configurations.add(`${name}.${hash}`);
  }
  return [...configurations].sort();
}
