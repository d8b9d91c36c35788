import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { ObjectStore } from '../kube/object-store.ts';
import type { ResourceKind } from '../kube/resource-kinds.ts';

/** Where an object is. */
export interface ObjectPlace {
  readonly namespace: string;
  readonly name: string;
}

export interface FollowedObjectsOptions {
  readonly resource: ResourceKind;
  readonly client: Pick<ApiClient, 'find'>;
  /** Starts a reflector for one object. */
  readonly follow: (resource: ResourceKind, store: ObjectStore, place: ObjectPlace, signal: AbortSignal) => void;
  readonly onChange: (injectorConfig: string) => void;
}

interface FollowedObject {
  readonly store: ObjectStore;
  readonly stop: AbortController;
  /** The InjectorConfigs that refer to it. */
  readonly users: Set<string>;
}

/**
 * The objects of one kind that InjectorConfigs refer to, each followed by a watch of its own, so that an edit, a deletion or the creation of a missing
 * one is acted on at once, without the right to read every object of the cluster being used.
 */
export class FollowedObjects {
  readonly #options: FollowedObjectsOptions;
  readonly #followed = new Map<string, FollowedObject>();

  constructor(options: FollowedObjectsOptions) {
    this.#options = options;
  }

  /** The object as last seen. While its watch is on the way the API server is asked, so that an absent one shows as what it is. */
  async read(
    user: string,
    { namespace, name }: ObjectPlace,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    const { client, resource } = this.#options;
    const key = `${namespace}/${name}`;
    const { store, users } = this.#followed.get(key) ?? this.#begin(key, { namespace, name });
    users.add(user);
    return store.hasSynced ? store.get(name, namespace) : client.find(resource, name, { namespace, signal });
  }

  /** The InjectorConfig refers to these objects only: watches that nobody needs any more end. */
  keepOnly(user: string, places: readonly ObjectPlace[]): void {
    const wanted = new Set(places.map(({ namespace, name }) => `${namespace}/${name}`));
    for (const [key, { users, stop }] of this.#followed) {
      if (wanted.has(key) || !users.delete(user) || users.size > 0) continue;
      stop.abort();
      this.#followed.delete(key);
    }
  }

  #begin(key: string, place: ObjectPlace): FollowedObject {
    const { resource, follow, onChange } = this.#options;
    const followed = { store: new ObjectStore(), stop: new AbortController(), users: new Set<string>() };
    this.#followed.set(key, followed);
    followed.store.subscribe(() => {
      for (const user of followed.users) onChange(user);
    });
    follow(resource, followed.store, place, followed.stop.signal);
    return followed;
  }
}
