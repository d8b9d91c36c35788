import type { PodRecord } from '../pod-record.ts';
import type { PodJudgement } from './judge-pod.ts';
import { carriedBy, traitsKey, type PodTraits } from './pod-traits.ts';

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
