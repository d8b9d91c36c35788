import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { ConfigurationReference } from '../../manifests/configuration-references.ts';
import { configMaps } from '../cluster-view.ts';

/** Who refers: the InjectorConfig's name, and its revision for messages. */
export interface ReferenceUser {
  readonly name: string;
  readonly revision: string;
}

interface Reference {
  readonly store: ObjectStore;
  readonly stop: AbortController;
  /** The InjectorConfigs that refer to it. */
  readonly users: Set<string>;
}

/** Starts a reflector for one ConfigMap. */
export type FollowConfigMap = (options: {
  namespace: string;
  name: string;
  store: ObjectStore;
  signal: AbortSignal;
}) => void;

/**
 * The ConfigMaps that InjectorConfigs refer to, each followed by a watch of its own, so that an edit, a deletion or the creation of a missing
 * one is acted on at once, without the right to read every ConfigMap of the cluster being used.
 */
export class ReferenceWatches {
  readonly #client: Pick<ApiClient, 'find'>;
  readonly #follow: FollowConfigMap;
  readonly #onChange: (injectorConfig: string) => void;
  readonly #references = new Map<string, Reference>();

  constructor(client: Pick<ApiClient, 'find'>, follow: FollowConfigMap, onChange: (injectorConfig: string) => void) {
    this.#client = client;
    this.#follow = follow;
    this.#onChange = onChange;
  }

  /**
   * The text that an InjectorConfig refers to.
   * @throws ConfigurationError naming field, ConfigMap, key, namespace and revision when there is none, in Istio's words, which people search for.
   */
  async read(user: ReferenceUser, reference: ConfigurationReference, signal: AbortSignal): Promise<string> {
    const { field, namespace, name, key } = reference;
    const where = `InjectorConfig ${user.name} (revision ${user.revision}): ${field}`;
    const { store } = this.#use(user.name, namespace, name);
    // The watch may still be on its way: ask, so that an absent object shows as what it is.
    const object = store.hasSynced ? store.get(name, namespace) : await this.#ask(where, reference, signal);
    if (object === undefined) {
      throw new ConfigurationError(
        field,
        `${where}: could not read valid configmap "${name}" from namespace "${namespace}" (key "${key}"): it does not exist; create it or correct the reference`,
      );
    }
    const text = dataOf(object)[key];
    if (text === undefined) {
      const keys = Object.keys(dataOf(object)).sort();
      const have = keys.length === 0 ? 'it has none' : `it has ${keys.join(', ')}`;
      throw new ConfigurationError(
        field,
        `${where}: missing configuration map key "${key}" in configmap "${name}" of namespace "${namespace}": ${have}; add it or correct the reference`,
      );
    }
    return text;
  }

  /** The InjectorConfig refers to these ConfigMaps only: watches that nobody needs any more end. */
  keepOnly(user: string, references: readonly ConfigurationReference[]): void {
    const wanted = new Set(references.map(({ namespace, name }) => `${namespace}/${name}`));
    for (const [key, reference] of this.#references) {
      if (wanted.has(key) || !reference.users.delete(user) || reference.users.size > 0) continue;
      reference.stop.abort();
      this.#references.delete(key);
    }
  }

  /** Ends every watch. */
  stop(): void {
    for (const { stop } of this.#references.values()) stop.abort();
    this.#references.clear();
  }

  async #ask(
    where: string,
    { field, namespace, name, key }: ConfigurationReference,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    try {
      return await this.#client.find(configMaps, name, { namespace, signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 403) throw error;
      throw new ConfigurationError(
        field,
        `${where}: could not read valid configmap "${name}" from namespace "${namespace}" (key "${key}"): it may not be read; grant the operator get, list and watch on configmaps there (${error.message})`,
      );
    }
  }

  #use(user: string, namespace: string, name: string): Reference {
    const key = `${namespace}/${name}`;
    let reference = this.#references.get(key);
    if (reference === undefined) {
      const users = new Set<string>();
      reference = { store: new ObjectStore(), stop: new AbortController(), users };
      this.#references.set(key, reference);
      reference.store.subscribe(() => {
        for (const each of users) this.#onChange(each);
      });
      this.#follow({ namespace, name, store: reference.store, signal: reference.stop.signal });
    }
    reference.users.add(user);
    return reference;
  }
}

function dataOf(configMap: KubernetesObject): Record<string, string> {
  return (configMap.data ?? {}) as Record<string, string>;
}
