import { ObjectStore } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector } from '../../kube/reflector.ts';
import { injectorConfigs, revisionTags, statedTarget } from '../cluster-view.ts';
import { TagTargets } from '../tags/tag-targets.ts';

/**
 * The InjectorConfigs and RevisionTags of the cluster, followed by every replica that answers the validating webhook: what one of them may be depends
 * on the others. What replicas see is a moment old; reconcile checks the same again.
 */
export class ReviewedObjects {
  readonly #options: FollowingParts;
  readonly #configs = new ObjectStore();
  readonly #tags = new ObjectStore();
  readonly #stop = new AbortController();
  /** Where tags lead, as their status says. */
  readonly targets: TagTargets;

  constructor(options: FollowingParts & { readonly operatorClass: string }) {
    this.#options = options;
    const targetOf = (tag: string): string | undefined => statedTarget(this.#tags.get(tag));
    this.targets = new TagTargets({ configs: this.#configs, tags: this.#tags, targetOf }, options.operatorClass);
  }

  /** True once both kinds have been listed: before that nothing is known to be missing. */
  get synced(): boolean {
    return this.#configs.hasSynced && this.#tags.hasSynced;
  }

  /** Begins to follow; returns at once. */
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
