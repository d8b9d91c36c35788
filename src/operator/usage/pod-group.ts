import type { KubernetesObject, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import type { PodHealth } from '../pods/pod-health.ts';
import type { PodJudgement } from './judge-pod.ts';
import { carriedBy, traitsKey, type PodTraits } from './pod-traits.ts';

/**
 * What is kept of each pod of the cluster for as long as it is there. Nothing whose size its author chooses: names, a uid and a cut list of
 * configurations are bounded, labels and annotations are not.
 */
export interface PodRecord extends KubernetesObject {
  metadata: ObjectMeta;
  /** `N.<hash8>,…`: the configurations that have injected it (annotation `sidecar-injector.io/config`). */
  readonly injectedBy?: string;
  /** The pods that have what it has; absent where nobody counts it. */
  readonly group?: PodGroup;
  /** When it was made, in seconds since 1970. */
  readonly createdAt?: number;
  /** How it does; absent where nobody counts it. */
  readonly health?: PodHealth;
  /** Since when it is ready, or is not, in seconds since 1970; when it was made, while it does not say. */
  readonly since?: number;
}

/** The pods and namespaces of the cluster, as the leader follows them. */
export interface FollowedStores {
  readonly pods: ObjectStore<PodRecord>;
  readonly namespaces: ObjectStore;
}

/** Pods that nobody can tell apart: the replicas of a workload, mostly. They are judged once. */
export class PodGroup {
  readonly traits: PodTraits;
  /** By name: what a store keeps of a pod may be replaced by its equal without a word. */
  readonly pods = new Map<string, PodRecord>();
  judgements: readonly PodJudgement[] = [];

  constructor(traits: PodTraits) {
    this.traits = traits;
  }

  /** The InjectorConfigs that its annotation names. */
  get carried(): string[] {
    return carriedBy(this.traits).map(({ name }) => name);
  }
}

/** One group for the same traits, for as long as anybody holds it. */
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
