import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient, ListOptions, ListPage, ReadOptions } from '../../kube/api-client.ts';
import { systemClock } from '../../kube/clock.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Logger } from '../../kube/ports.ts';
import { Reflector } from '../../kube/reflector.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';
import * as kinds from '../../operator/cluster-view.ts';

const watched = [kinds.injectorConfigs, kinds.revisionTags, kinds.mutatingWebhooks, kinds.namespaces, kinds.pods];

/**
 * A client whose whole lists of some kinds come from watches, so that the reports of the commands
 * can be repeated at every change. Everything else is read from the API server, also the lists of
 * kinds that the user may not watch.
 */
export class WatchedCluster implements Pick<ApiClient, 'list' | 'listAll' | 'find'> {
  readonly #client: Pick<ApiClient, 'list' | 'listAll' | 'find' | 'watch'>;
  readonly #stores = new Map<ResourceKind, ObjectStore>(watched.map((resource) => [resource, new ObjectStore()]));
  readonly #problems = new Map<ResourceKind, string>();
  #changes = 0;

  constructor(client: Pick<ApiClient, 'list' | 'listAll' | 'find' | 'watch'>) {
    this.#client = client;
  }

  /** Increases with every change of a watched object. */
  get changes(): number {
    return this.#changes;
  }

  /** The watches that fail, so that what they report may be old. */
  get problems(): readonly string[] {
    return [...this.#problems].map(([{ plural }, problem]) => `the watch of ${plural} fails: ${problem}`);
  }

  /** Watches until the signal aborts. */
  run(signal: AbortSignal): void {
    for (const [resource, store] of this.#stores) {
      store.subscribe(() => (this.#changes += 1));
      const reflector = new Reflector({
        client: this.#client,
        clock: systemClock,
        random: Math.random,
        logger: this.#loggerOf(resource),
        resource,
        store,
        pageSize: 500,
        onRecovered: () => this.#problems.delete(resource),
      });
      void reflector.run(signal);
    }
  }

  #loggerOf(resource: ResourceKind): Logger {
    const ignore = (): void => undefined;
    const warn: Logger['warn'] = (message, fields) => {
      const error = fields?.['error'];
      this.#problems.set(resource, typeof error === 'string' ? error : message);
    };
    return { error: warn, warn, info: ignore, debug: ignore };
  }

  async list<T = KubernetesObject>(resource: ResourceKind, options: ListOptions = {}): Promise<ListPage<T>> {
    return this.#stored<T>(resource, options) ?? (await this.#client.list<T>(resource, options));
  }

  async listAll<T = KubernetesObject>(resource: ResourceKind, options: ListOptions = {}): Promise<ListPage<T>> {
    return this.#stored<T>(resource, options) ?? (await this.#client.listAll<T>(resource, options));
  }

  find<T = KubernetesObject>(resource: ResourceKind, name: string, options?: ReadOptions): Promise<T | undefined> {
    return this.#client.find<T>(resource, name, options);
  }

  #stored<T>(resource: ResourceKind, options: ListOptions): ListPage<T> | undefined {
    const { namespace, labelSelector, fieldSelector } = options;
    const store = this.#stores.get(resource);
    const isWhole = namespace === undefined && labelSelector === undefined && fieldSelector === undefined;
    if (store?.hasSynced !== true || !isWhole) return undefined;
    return { items: store.list() as T[], resourceVersion: '', continue: undefined };
  }
}
