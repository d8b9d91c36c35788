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
  readonly client: Pick<ApiClient, 'list'>;
  /** Starts a reflector for one object; the signal stops it. */
  readonly follow: (resource: ResourceKind, store: ObjectStore, place: ObjectPlace, signal: AbortSignal) => void;
  readonly onChange: (injectorConfig: string) => void;
}

interface FollowedObject {
  readonly store: ObjectStore;
  readonly stop: AbortController;
  /** The InjectorConfigs that refer to the object, and whether this pass or the last read it. */
  readonly users: Map<string, 'ThisPass' | 'LastPass'>;
}

/**
 * Watches the objects to which InjectorConfigs refer, with one watch per object. The operator thus
 * reacts to each creation, edit and deletion without reading all objects of a kind. A watch stops
 * when a whole pass over each InjectorConfig has not read the object.
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
  async read(
    user: string,
    resource: ResourceKind,
    place: ObjectPlace,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    const { namespace, name } = place;
    const key = `${resource.plural}.${resource.group}/${namespace ?? ''}/${name}`;
    const { store, users } = this.#followed.get(key) ?? this.#begin(key, resource, place);
    users.set(user, 'ThisPass');
    if (store.hasSynced) return store.get(name, namespace);
    const how = { namespace, fieldSelector: `metadata.name=${name}`, signal };
    const { items } = await this.#options.client.list(resource, how);
    return items[0];
  }

  /** Ends a complete pass over an InjectorConfig: drops the objects that the pass has not read. */
  endPass(user: string): void {
    for (const { users } of this.#followed.values()) {
      if (users.get(user) === 'ThisPass') users.set(user, 'LastPass');
      else users.delete(user);
    }
    this.#stopUnused();
  }

  /** Drops all objects of an InjectorConfig that is gone. */
  forget(user: string): void {
    for (const { users } of this.#followed.values()) users.delete(user);
    this.#stopUnused();
  }

  #stopUnused(): void {
    for (const [key, { users, stop }] of this.#followed) {
      if (users.size > 0) continue;
      stop.abort();
      this.#followed.delete(key);
    }
  }

  #begin(key: string, resource: ResourceKind, place: ObjectPlace): FollowedObject {
    const { follow, onChange } = this.#options;
    const followed: FollowedObject = { store: new ObjectStore(), stop: new AbortController(), users: new Map() };
    this.#followed.set(key, followed);
    followed.store.subscribe(() => {
      for (const user of followed.users.keys()) onChange(user);
    });
    follow(resource, followed.store, place, followed.stop.signal);
    return followed;
  }
}
