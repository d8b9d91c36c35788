import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient, ListOptions, ListPage, ReadOptions } from '../../kube/api-client.ts';
import { systemClock } from '../../kube/clock.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Logger } from '../../kube/ports.ts';
import { Reflector } from '../../kube/reflector.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';
import * as kinds from '../../operator/cluster-view.ts';

const watchedKinds = [kinds.injectorConfigs, kinds.revisionTags, kinds.mutatingWebhooks, kinds.namespaces, kinds.pods];

/** A kind that is watched. */
interface Watched {
  readonly store: ObjectStore;
  /** Resolves when the first list has succeeded or failed. */
  readonly begun: Promise<void>;
  readonly begin: () => void;
}

function createWatched(): Watched {
  const store = new ObjectStore();
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  void store.synced().then(begin);
  return { store, begun, begin };
}

/**
 * A client whose whole lists of some kinds come from watches, so that the reports of the commands
 * can be repeated at every change. Everything else is read from the API server, also the lists of
 * kinds that the user may not watch.
 */
export class WatchedCluster implements Pick<ApiClient, 'list' | 'listAll' | 'find'> {
  readonly #client: Pick<ApiClient, 'list' | 'listAll' | 'find' | 'watch'>;
  readonly #watched = new Map<ResourceKind, Watched>(watchedKinds.map((resource) => [resource, createWatched()]));
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
    for (const [resource, { store, begin }] of this.#watched) {
      store.subscribe(() => (this.#changes += 1));
      const reflector = new Reflector({
        client: this.#client,
        clock: systemClock,
        random: Math.random,
        logger: this.#loggerOf(resource, begin),
        resource,
        store,
        pageSize: 500,
        onRecovered: () => this.#problems.delete(resource),
      });
      void reflector.run(signal);
    }
  }

  #loggerOf(resource: ResourceKind, begin: () => void): Logger {
    const ignore = (): void => undefined;
    const warn: Logger['warn'] = (message, fields) => {
      const error = fields?.['error'];
      this.#problems.set(resource, typeof error === 'string' ? error : message);
      begin();
    };
    return { error: warn, warn, info: ignore, debug: ignore };
  }

  async list<T = KubernetesObject>(resource: ResourceKind, options: ListOptions = {}): Promise<ListPage<T>> {
    return (await this.#stored<T>(resource, options)) ?? (await this.#client.list<T>(resource, options));
  }

  async listAll<T = KubernetesObject>(resource: ResourceKind, options: ListOptions = {}): Promise<ListPage<T>> {
    return (await this.#stored<T>(resource, options)) ?? (await this.#client.listAll<T>(resource, options));
  }

  find<T = KubernetesObject>(resource: ResourceKind, name: string, options?: ReadOptions): Promise<T | undefined> {
    return this.#client.find<T>(resource, name, options);
  }

  async #stored<T>(resource: ResourceKind, options: ListOptions): Promise<ListPage<T> | undefined> {
    const { namespace, labelSelector, fieldSelector } = options;
    const watched = this.#watched.get(resource);
    const isWhole = namespace === undefined && labelSelector === undefined && fieldSelector === undefined;
    if (watched === undefined || !isWhole) return undefined;
    await watched.begun;
    if (!watched.store.hasSynced) return undefined;
    return { items: watched.store.list() as T[], resourceVersion: '', continue: undefined };
  }
}
