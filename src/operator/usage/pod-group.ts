import type { KubernetesObject, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import type { PodUpdate } from '../../api/revision-tag/update-annotation.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import type { PodHealth } from '../pods/pod-health.ts';
import type { PodJudgement } from './judge-pod.ts';
import { traitsKey, type PodTraits } from './pod-traits.ts';

/** The parts of a pod that are kept in memory, bounded in size. Labels are in the group. */
export interface PodRecord extends KubernetesObject {
  metadata: ObjectMeta;
  /** The annotation `sidecar-injector.io/config` (`N.<hash8>,…`), truncated. */
  readonly injectedBy?: string;
  /** The update in place that the pod records; absent in almost all pods. */
  readonly update?: PodUpdate;
  /** The group of pods with equal traits; absent if the pod does not count. */
  readonly group?: PodGroup;
  /** The node of the pod; absent until it is scheduled. */
  readonly node?: string | undefined;
  /** The creation time, in seconds since 1970. */
  readonly createdAt?: number;
  /** The health of the pod; absent if the pod does not count. */
  readonly health?: PodHealth;
  /** When condition Ready last changed, in seconds since 1970; absent if this was at creation. */
  readonly since?: number;
}

/** The pods and namespaces that the leader watches. */
export interface FollowedStores {
  readonly pods: ObjectStore<PodRecord>;
  readonly namespaces: ObjectStore;
}

/** Pods with equal traits, usually the replicas of a workload. They are judged once. */
export class PodGroup {
  readonly traits: PodTraits;
  /** The pods by name, because a store may replace a record by an equal record without an event. */
  readonly pods = new Map<string, PodRecord>();
  judgements: readonly PodJudgement[] = [];

  constructor(traits: PodTraits) {
    this.traits = traits;
  }
}

/** Returns the same group for equal traits, while other code references the group. */
export class PodGroups {
  readonly #known = new Map<string, WeakRef<PodGroup>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (this.#known.get(key)?.deref() === undefined) this.#known.delete(key);
  });

  of(traits: PodTraits): PodGroup {
    const key = traitsKey(traits);
    const known = this.#known.get(key)?.deref();
    if (known !== undefined) return known;
    const group = new PodGroup(traits);
    this.#known.set(key, new WeakRef(group));
    this.#gone.register(group, key);
    return group;
  }
}

/** Returns the creation time of the newest pod, in ms since 1970; -Infinity if there is none. */
export function newestPod(groups: Iterable<PodGroup>): number {
  let newest = -Infinity;
  for (const { pods } of groups)
    for (const { createdAt = -Infinity } of pods.values()) newest = Math.max(newest, createdAt * 1000);
  return newest;
}
