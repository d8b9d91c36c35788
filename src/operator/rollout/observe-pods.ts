import { rankOf, workloadKey } from '../../rollout/workload-key.ts';
import type { ObservedPod, RolloutObservation } from '../../rollout/observation.ts';
import type { PodRecord } from '../pod-record.ts';
import type { PodGroup } from '../usage/pod-group.ts';

/** The two sides of a rollout: all pods of the stable InjectorConfig, and those of exactly this configuration of the canary. */
export interface RolloutSides {
  readonly stable: string;
  readonly canary: { readonly injectorConfig: string; readonly hash: string } | undefined;
}

/** What the pods that follow a tag say of its rollout. Costs what they are. */
export function observePods(
  tag: string,
  groups: Iterable<PodGroup>,
  { stable, canary }: RolloutSides,
): Pick<RolloutObservation, 'workloads' | 'pods'> {
  const workloads = new Map<string, { rank: string; pods: number }>();
  const pods = { stable: [] as ObservedPod[], canary: [] as ObservedPod[] };
  for (const { traits, pods: records, judgements } of groups) {
    const workload = { namespace: traits.namespace, ...traits.workload };
    const key = workloadKey(workload);
    const known = workloads.get(key) ?? { rank: rankOf(tag, workload), pods: 0 };
    known.pods += records.size;
    workloads.set(key, known);
    const carried = judgements.find(({ taker }) => taker?.tag === tag)?.carried;
    if (carried === undefined) continue;
    const isCanary = carried.name === canary?.injectorConfig && carried.hash === canary.hash;
    const isStable = !isCanary && carried.name === stable;
    const side = isCanary ? pods.canary : isStable ? pods.stable : undefined;
    if (side !== undefined) for (const record of records.values()) side.push(observedPod(record));
  }
  return { workloads: [...workloads.values()], pods };
}

function observedPod({ createdAt = 0, since = createdAt, health }: PodRecord): ObservedPod {
  const { ready = false, restarts = 0, crashing = false } = health ?? {};
  return { createdAt: createdAt * 1000, ready, since: since * 1000, restarts, crashing };
}
