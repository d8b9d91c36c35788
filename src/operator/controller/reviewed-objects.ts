import { ObjectStore } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector } from '../../kube/reflector.ts';
import { injectorConfigs, revisionTags, statedTarget } from '../cluster-view.ts';
import { TagTargets } from '../tags/tag-targets.ts';

/**
 * Watches the cluster's InjectorConfigs and RevisionTags in every replica that answers the
 * validating webhook, since the validity of an object depends on the other objects. The cache may
 * be stale, so the leader repeats the checks in its passes.
 */
export class ReviewedObjects {
  readonly #options: FollowingParts;
  readonly #configs = new ObjectStore();
  readonly #tags = new ObjectStore();
  readonly #stop = new AbortController();
  /** The InjectorConfigs to which tags point, from their status. */
  readonly targets: TagTargets;

  constructor(options: FollowingParts & { readonly operatorClass: string }) {
    this.#options = options;
    const targetOf = (tag: string): string | undefined => statedTarget(this.#tags.get(tag));
    this.targets = new TagTargets({ configs: this.#configs, tags: this.#tags, targetOf }, options.operatorClass);
  }

  /** Whether both kinds have been listed; until then, an existing object may seem to be missing. */
  get synced(): boolean {
    return this.#configs.hasSynced && this.#tags.hasSynced;
  }

  start(): void {
    for (const [resource, store] of [
      [injectorConfigs, this.#configs],
      [revisionTags, this.#tags],
    ] as const) {
      void new Reflector({ ...this.#options, resource, store }).run(this.#stop.signal);
    }
  }

  stop(): void {
    this.#stop.abort(new Error('the replica is stopping'));
  }
}
