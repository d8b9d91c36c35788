import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { ObjectStore } from '../kube/object-store.ts';
import type { ResourceKind } from '../kube/resource-kinds.ts';

/** Where an object is. */
export interface ObjectPlace {
  /** Absent for what is cluster-scoped. */
  readonly namespace?: string;
  readonly name: string;
}

export interface FollowedObjectsOptions {
  readonly resource: ResourceKind;
  readonly client: Pick<ApiClient, 'list'>;
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

  /**
   * The object as last seen. While its watch is on the way the API server is asked for a list of one, so that an absent one shows as what it is, and
   * a kind that is not served as an ApiError with code 404.
   */
  async read(user: string, place: ObjectPlace, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const { client, resource } = this.#options;
    const { namespace, name } = place;
    const key = keyOf(place);
    const { store, users } = this.#followed.get(key) ?? this.#begin(key, place);
    users.add(user);
    if (store.hasSynced) return store.get(name, namespace);
    const { items } = await client.list(resource, { namespace, fieldSelector: `metadata.name=${name}`, signal });
    return items[0];
  }

  /** The InjectorConfig refers to these objects only: watches that nobody needs any more end. */
  keepOnly(user: string, places: readonly ObjectPlace[]): void {
    const wanted = new Set(places.map(keyOf));
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

function keyOf({ namespace = '', name }: ObjectPlace): string {
  return `${namespace}/${name}`;
}
