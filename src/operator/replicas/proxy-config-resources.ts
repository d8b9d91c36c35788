import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ProxyConfigResource } from '../../inject/injection-request.ts';
import { ApiError, isNotFound } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector } from '../../kube/reflector.ts';
import type { ListOptions, ListPage } from '../../kube/api-client.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';

/** Istio's ProxyConfig. Its CustomResourceDefinition exists only in clusters with Istio. */
export const proxyConfigs = resourceKind('networking.istio.io/v1beta1', 'ProxyConfig');

/** The retry period for a collection that cannot be listed, in milliseconds. */
const relistMs = 60_000;

/**
 * Watches Istio's ProxyConfigs in the whole cluster. Their CustomResourceDefinition may come or go,
 * so the class retries once a minute while the API server does not serve the kind.
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

  start(): void {
    void this.#run(this.#stop.signal);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Whether the API server has returned the list or answered that it is unavailable. */
  get settled(): boolean {
    return this.#settled || this.#store.hasSynced;
  }

  /** Returns all ProxyConfigs, unordered. Returns the same list object while nothing changes. */
  list(): readonly ProxyConfigResource[] {
    this.#list ??= this.#store.list().map(proxyConfigResource);
    return this.#list;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const ended = new AbortController();
      const reflector = new Reflector({
        ...this.#options,
        client: this.#endingClient(ended),
        resource: proxyConfigs,
        store: this.#store,
      });
      await reflector.run(AbortSignal.any([signal, ended.signal]));
      await pause(this.#options.clock, relistMs, signal);
    }
  }

  /** Returns a client that aborts `ended` on a 404 or 403, for which reflectors retry forever. */
  #endingClient(ended: AbortController): FollowingParts['client'] {
    const { client, logger } = this.#options;
    const list = async <T = KubernetesObject>(resource: ResourceKind, options?: ListOptions): Promise<ListPage<T>> => {
      try {
        return await client.list<T>(resource, options);
      } catch (error) {
        if (isNotFound(error)) {
          if (this.#store.size > 0) logger.info("Istio's ProxyConfigs are no longer served; their list is empty now");
          this.#store.replace([], '');
        } else if (error instanceof ApiError && error.code === 403) {
          const advice = 'grant the operator list and watch on proxyconfigs of networking.istio.io';
          logger.warn(`the operator may not read Istio's ProxyConfigs and uses the last known list; ${advice}`, {
            error: error.message,
          });
        } else throw error;
        this.#settled = true;
        ended.abort();
        throw error;
      }
    };
    return { list, watch: client.watch.bind(client) };
  }
}

/** Returns the parts of a ProxyConfig that injection reads. */
export function proxyConfigResource({ metadata, spec }: KubernetesObject): ProxyConfigResource {
  const { name = '', namespace = '', creationTimestamp } = metadata;
  return {
    metadata: { name, namespace, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) },
    spec: (spec ?? {}) as ProxyConfigResource['spec'],
  };
}
