import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import { ObjectStore } from '../../../src/kube/object-store.ts';
import type { WatchEnd } from '../../../src/kube/ports.ts';
import { Reflector, type ReflectorOptions } from '../../../src/kube/reflector.ts';
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from '../../../src/kube/request-options.ts';
import type { ResourceKind } from '../../../src/kube/resource-kinds.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { configMaps, NotedLog, type Workbench } from './workbench.ts';

type Reads = Pick<ApiClient, 'list' | 'watch'>;
type Options = Omit<ReflectorOptions<KubernetesObject>, 'client' | 'store' | 'clock' | 'logger' | 'observer'>;

/** A client that notes what is read through it, and when (milliseconds since 1970). */
class NotedReads implements Reads {
  readonly lists: { at: number; continue: string | undefined }[] = [];
  /** With the bookmark that had come last when it was asked for. */
  readonly watches: { at: number; resourceVersion: string; bookmark: string | undefined }[] = [];
  /** How many watches the API server has agreed to. */
  opened = 0;
  readonly #bookmarks: string[] = [];
  readonly #client: Reads;

  constructor(client: Reads) {
    this.#client = client;
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
    this.watches.push({ at: Date.now(), resourceVersion, bookmark: this.#bookmarks.at(-1) });
    const noted = (): void => {
      this.opened += 1;
      onOpen?.();
    };
    for await (const event of this.#client.watch<T>(resource, { ...options, onOpen: noted })) {
      const { metadata } = event.object as KubernetesObject;
      if (event.type === 'BOOKMARK') this.#bookmarks.push(metadata.resourceVersion ?? '');
      yield event;
    }
  }
}

/** A collection that a reflector follows, and notes of how it does. */
export class Followed {
  readonly store = new ObjectStore();
  readonly log = new NotedLog();
  readonly reads: NotedReads;
  /** How and when (milliseconds since 1970) its watches ended. */
  readonly ends: { reason: WatchEnd; at: number }[] = [];
  /** Every wait that the reflector has asked for, and when (milliseconds since 1970): what it meant to do, however late it was done. */
  readonly waits: { at: number; milliseconds: number }[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(client: Reads, options: Options) {
    this.reads = new NotedReads(client);
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
        watchEnded: (_plural, reason) => {
          this.ends.push({ reason, at: Date.now() });
        },
      },
    });
    this.#running = reflector.run(this.#stop.signal);
  }

  /** Follows the ConfigMaps of the workbench with the label `e2e=NAME`, by the client `km-NAME`. */
  static configMaps(bench: Workbench, name: string, options: Partial<Options> = {}): Followed {
    const selected = { resource: configMaps, namespace: bench.namespace, labelSelector: `e2e=${name}` };
    return new Followed(bench.client(`km-${name}`), { ...selected, random: () => bench.random.next(), ...options });
  }

  /** Resolves when the list has been read and the API server has agreed to a watch. */
  async following(): Promise<void> {
    await waitFor('the reflector to follow', () => this.store.hasSynced && this.reads.opened > 0);
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
