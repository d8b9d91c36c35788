import type { PodState } from './judge-pod.ts';
import type { PodGroup } from './pod-group.ts';

/** Pods by state. */
export type PodCounts = Record<PodState, number>;

export const noPods = (): PodCounts => ({ current: 0, stale: 0, missing: 0 });

/** Who uses one InjectorConfig or one tag. */
export class UsageSubject {
  readonly counts = noPods();
  /** Pods that use it, also those that have no state. */
  users = 0;
  /** The groups of those pods, with their state here. */
  readonly groups = new Map<PodGroup, PodState | undefined>();
  /** Namespaces whose labels lead here, and by how many ways. */
  readonly namespaces = new Map<string, number>();

  get isUnused(): boolean {
    return this.groups.size === 0 && this.namespaces.size === 0;
  }

  /** A group comes (`by` 1) with all its pods, or goes (-1). */
  move(group: PodGroup, state: PodState | undefined, by: 1 | -1): void {
    this.count(state, by * group.pods.size);
    if (by === 1) this.groups.set(group, state);
    else this.groups.delete(group);
  }

  /** So many pods more of a group that is here. */
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

/** The name of an InjectorConfig's or a tag's subject. */
export function subjectOf(kind: 'InjectorConfig' | 'RevisionTag', name: string): string {
  return `${kind}/${name}`;
}
