import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient, ListOptions, ListPage, WatchEvent, WatchOptions } from '../../../src/kube/api-client.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import { ObjectStore } from '../../../src/kube/object-store.ts';
import type { WatchEnd } from '../../../src/kube/ports.ts';
import { Reflector, type ReflectorOptions } from '../../../src/kube/reflector.ts';
import type { ResourceKind } from '../../../src/kube/resource-kinds.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { configMaps, NotedLog, type Workbench } from './workbench.ts';

type Reads = Pick<ApiClient, 'list' | 'watch'>;
type Options = Omit<ReflectorOptions<KubernetesObject>, 'client' | 'store' | 'clock' | 'logger' | 'observer'>;

/** A client that records its reads with their times, in milliseconds since 1970. */
class NotedReads implements Reads {
  readonly lists: { at: number; continue: string | undefined }[] = [];
  /** The watches, with the last bookmark received before each request. */
  readonly watches: { at: number; resourceVersion: string; bookmark: string | undefined }[] = [];
  /** The number of watches that the API server accepted. */
  opened = 0;
  /** The timeouts of the watches as the reflector requests them, in seconds. */
  readonly timeouts: (number | undefined)[] = [];
  readonly #bookmarks: string[] = [];
  readonly #client: Reads;
  readonly #timeout: { timeoutSeconds?: number };

  /** @param timeout replaces the timeout of each watch, so that the API server ends it earlier */
  constructor(client: Reads, timeout: { timeoutSeconds?: number } = {}) {
    this.#client = client;
    this.#timeout = timeout;
  }

  list<T = KubernetesObject>(resource: ResourceKind, options: ListOptions = {}): Promise<ListPage<T>> {
    this.lists.push({ at: Date.now(), continue: options.continue });
    return this.#client.list<T>(resource, options);
  }

  async *watch<T = KubernetesObject>(
    resource: ResourceKind,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const { resourceVersion = '', onOpen } = options;
    this.timeouts.push(options.timeoutSeconds);
    this.watches.push({ at: Date.now(), resourceVersion, bookmark: this.#bookmarks.at(-1) });
    const onOpened = (): void => {
      this.opened += 1;
      onOpen?.();
    };
    for await (const event of this.#client.watch<T>(resource, { ...options, ...this.#timeout, onOpen: onOpened })) {
      const { metadata } = event.object as KubernetesObject;
      if (event.type === 'BOOKMARK') this.#bookmarks.push(metadata.resourceVersion ?? '');
      yield event;
    }
  }
}

/** A collection followed by a reflector, with records of its behavior. */
export class Followed {
  readonly store = new ObjectStore();
  readonly log = new NotedLog();
  readonly reads: NotedReads;
  /** How and when watches ended, in milliseconds since 1970. */
  readonly ends: { reason: WatchEnd; at: number }[] = [];
  /** The waits that the reflector requested; `at` is in milliseconds since 1970. */
  readonly waits: { at: number; milliseconds: number }[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(client: Reads, { watchTimeout, ...options }: Options & { watchTimeout?: number }) {
    this.reads = new NotedReads(client, watchTimeout === undefined ? {} : { timeoutSeconds: watchTimeout });
    const reflector = new Reflector({
      ...options,
      client: this.reads,
      store: this.store,
      clock: {
        ...systemClock,
        after: (milliseconds, callback) => {
          this.waits.push({ at: Date.now(), milliseconds });
          return systemClock.after(milliseconds, callback);
        },
      },
      logger: this.log,
      observer: {
        watchEnded: (_plural, reason) => this.ends.push({ reason, at: Date.now() }),
      },
    });
    this.#running = reflector.run(this.#stop.signal);
  }

  /** Follows the workbench's ConfigMaps labeled `e2e=NAME`, with the client `km-NAME`. */
  static configMaps(
    bench: Workbench,
    name: string,
    options: Partial<Options> & { watchTimeout?: number } = {},
  ): Followed {
    const selected = { resource: configMaps, namespace: bench.namespace, labelSelector: `e2e=${name}` };
    return new Followed(bench.client(`km-${name}`), { ...selected, random: () => bench.random.next(), ...options });
  }

  /** Resolves when the list is complete and the API server has accepted a watch. */
  async following(): Promise<void> {
    await waitFor('the reflector to start its watch', () => this.store.hasSynced && this.reads.opened > 0);
  }

  names(): string[] {
    return this.store
      .list()
      .map(({ metadata }) => metadata.name ?? '')
      .sort();
  }

  endedBy(reason: WatchEnd) {
    return this.ends.filter((end) => end.reason === reason);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
