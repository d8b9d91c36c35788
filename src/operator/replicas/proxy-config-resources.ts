import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ProxyConfigResource } from '../../inject/injection-request.ts';
import { ApiError, isNotFound } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector } from '../../kube/reflector.ts';
import type { ListOptions, ListPage } from '../../kube/request-options.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';

/** Istio's ProxyConfig; its CustomResourceDefinition comes with Istio, if it does. */
const proxyConfigs: ResourceKind = {
  group: 'networking.istio.io',
  version: 'v1beta1',
  plural: 'proxyconfigs',
  kind: 'ProxyConfig',
  namespaced: true,
};

/** How often we look whether a collection that could not be read can be read now. Milliseconds. */
const lookAgainMs = 60_000;

/**
 * Istio's ProxyConfig resources of the whole cluster, followed where the API server serves them. A cluster may get their definition later, or lose
 * it: while they are not served there are none, and once a minute we look again.
 */
export class ProxyConfigResources {
  readonly #options: FollowingParts;
  readonly #store = new ObjectStore();
  readonly #stop = new AbortController();
  #list: readonly ProxyConfigResource[] | undefined;
  #settled = false;

  constructor(options: FollowingParts) {
    this.#options = options;
    this.#store.subscribe(() => {
      this.#list = undefined;
    });
  }

  /** Begins to follow; returns at once. */
  start(): void {
    void this.#run(this.#stop.signal);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** True once it is known whether there are any. */
  get settled(): boolean {
    return this.#settled || this.#store.hasSynced;
  }

  /** All of them, in no order; the same list for as long as nothing has changed. */
  list(): readonly ProxyConfigResource[] {
    this.#list ??= this.#store.list().map(proxyConfigResource);
    return this.#list;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const given = new AbortController();
      const reflector = new Reflector({
        ...this.#options,
        client: this.#givingUp(given),
        resource: proxyConfigs,
        store: this.#store,
      });
      await reflector.run(AbortSignal.any([signal, given.signal]));
      await pause(this.#options.clock, lookAgainMs, signal);
    }
  }

  /** A client that ends its reflector when the collection is not served, or not for us: the reflector itself would ask for ever. */
  #givingUp(given: AbortController): FollowingParts['client'] {
    const { client, logger } = this.#options;
    const list = async <T = KubernetesObject>(resource: ResourceKind, options?: ListOptions): Promise<ListPage<T>> => {
      try {
        return await client.list<T>(resource, options);
      } catch (error) {
        if (isNotFound(error)) {
          if (this.#store.size > 0) logger.info("Istio's ProxyConfigs are no longer served; there are none now");
          this.#store.replace([], '');
        } else if (error instanceof ApiError && error.code === 403) {
          const advice = 'grant the operator list and watch on proxyconfigs of networking.istio.io';
          logger.warn(`Istio's ProxyConfigs may not be read and those we know go on counting; ${advice}`, {
            error: error.message,
          });
        } else throw error;
        this.#settled = true;
        given.abort();
        throw error;
      }
    };
    return { list, watch: client.watch.bind(client) };
  }
}

function proxyConfigResource({ metadata, spec }: KubernetesObject): ProxyConfigResource {
  const { name = '', namespace = '', creationTimestamp } = metadata;
  return {
    metadata: { name, namespace, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) },
    spec: (spec ?? {}) as ProxyConfigResource['spec'],
  };
}
