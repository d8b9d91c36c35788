import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { ObjectStore } from '../kube/object-store.ts';
import type { ResourceKind } from '../kube/resource-kinds.ts';

export interface ObjectPlace {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

export interface FollowedObjectsOptions {
  readonly resource: ResourceKind;
  readonly client: Pick<ApiClient, 'list'>;
  /** Starts a reflector for one object; the signal stops it. */
  readonly follow: (resource: ResourceKind, store: ObjectStore, place: ObjectPlace, signal: AbortSignal) => void;
  readonly onChange: (injectorConfig: string) => void;
}

interface FollowedObject {
  readonly store: ObjectStore;
  readonly stop: AbortController;
  /** Names of the InjectorConfigs that refer to the object. */
  readonly users: Set<string>;
}

/**
 * Watches the objects of one kind to which InjectorConfigs refer, with one watch per object. The
 * operator thus reacts to each creation, edit and deletion without reading all objects of the kind.
 */
export class FollowedObjects {
  readonly #options: FollowedObjectsOptions;
  readonly #followed = new Map<string, FollowedObject>();

  constructor(options: FollowedObjectsOptions) {
    this.#options = options;
  }

  /**
   * Returns the cached object; undefined if there is no such object. Until the watch has synced,
   * asks the API server with a list. @throws ApiError with code 404 when the kind is not served
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

  /** Drops an InjectorConfig's references to other objects. Stops watches without references. */
  keepOnly(user: string, places: readonly ObjectPlace[]): void {
    const kept = new Set(places.map(keyOf));
    for (const [key, { users, stop }] of this.#followed) {
      if (kept.has(key) || !users.delete(user) || users.size > 0) continue;
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
