import type { PodCounts, PodState } from './judge-pod.ts';
import type { PodGroup } from './pod-group.ts';

export const noPods = (): PodCounts => ({ current: 0, stale: 0, missing: 0 });

/** The pods and namespaces that use one InjectorConfig or tag. */
export class UsageSubject {
  readonly counts = noPods();
  /** The number of pods that use the subject, including pods without a state. */
  users = 0;
  /** The groups of these pods, with the state of each group. */
  readonly groups = new Map<PodGroup, PodState | undefined>();
  /** The namespaces whose labels select the subject, with the number of selecting webhooks. */
  readonly namespaces = new Map<string, number>();

  get isUnused(): boolean {
    return this.groups.size === 0 && this.namespaces.size === 0;
  }

  /** Adds (`by` 1) or removes (-1) a group with all its pods. */
  move(group: PodGroup, state: PodState | undefined, by: 1 | -1): void {
    this.count(state, by * group.pods.size);
    if (by === 1) this.groups.set(group, state);
    else this.groups.delete(group);
  }

  /** Changes the number of pods in a known group. `pods` may be negative. */
  count(state: PodState | undefined, pods: number): void {
    this.users += pods;
    if (state !== undefined) this.counts[state] += pods;
  }

  moveNamespace(name: string, by: 1 | -1): void {
    const ways = (this.namespaces.get(name) ?? 0) + by;
    if (ways > 0) this.namespaces.set(name, ways);
    else this.namespaces.delete(name);
  }
}

/** Returns the key of an InjectorConfig or tag, as `Kind/name`. */
export function usageKey(kind: 'InjectorConfig' | 'RevisionTag', name: string): string {
  return `${kind}/${name}`;
}
