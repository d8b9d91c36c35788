import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import type { Pod } from '../pod.ts';
import { barePod, deletePods, deployment, neverScheduled, podsOf } from '../workloads.ts';
import type { PodDefect } from '../lost-admissions.ts';
import { waitFor } from '../wait-for.ts';

export interface PodLoadOptions {
  /** A namespace whose pods are injected, of its own. */
  namespace: string;
  /** Creations a second by this client; 30 unless told. */
  perSecond?: number;
  /** Pods that a ReplicaSet makes again and again, beside them; 5 unless told, 0 for none. */
  replicaSetPods?: number;
  /** What is wrong with a stored pod, undefined when nothing is. */
  inspect: (pod: Pod) => PodDefect | undefined;
}

interface Creation {
  startedAt: number;
  endedAt: number;
  name: string;
  failure: string | undefined;
  defect: PodDefect | undefined;
}

/** Milliseconds between two rounds in which what was made is deleted. */
const roundMs = 1500;
const maxUnderWay = 64;

/**
 * Creates pods all the time: bare ones by this client, and ones that a ReplicaSet's controller makes, because its pods are deleted again and again. All
 * of them are really stored. Failures do not stop it.
 */
export class PodLoad {
  readonly creations: Creation[] = [];
  /** Pods of the ReplicaSet that were looked at, and what was wrong with them. */
  readonly replicaSetPods = new Map<string, PodDefect | undefined>();
  readonly startedAt = new Date();
  readonly #client: ApiClient;
  readonly #options: PodLoadOptions;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  /** When each creation that is under way was asked for, by its pod's name. */
  readonly #underWay = new Map<string, number>();

  private constructor(client: ApiClient, options: PodLoadOptions) {
    this.#client = client;
    this.#options = options;
  }

  get namespace(): string {
    return this.#options.namespace;
  }

  static async start(client: ApiClient, options: PodLoadOptions): Promise<PodLoad> {
    const load = new PodLoad(client, options);
    const { namespace, replicaSetPods: replicas = 5 } = options;
    // What is measured is admission, not the scheduler and the fake kubelets.
    if (replicas > 0) await client.create(deployment(namespace, 'load', { spec: neverScheduled, replicas }));
    load.#running = Promise.all([load.#create(), load.#turnOver()]);
    return load;
  }

  /** Waits until all that was asked for before a time (milliseconds since 1970) is answered. */
  async settled(time: number): Promise<void> {
    await waitFor('creations to be answered', () =>
      [...this.#underWay.values()].every((startedAt) => startedAt >= time),
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #create(): Promise<void> {
    const { perSecond = 30 } = this.#options;
    const under = new Set<Promise<void>>();
    const interval = 1000 / perSecond;
    let due = Date.now();
    for (let index = 1; !this.#stop.signal.aborted; index++) {
      if (this.#underWay.size < maxUnderWay) {
        const creation = this.#createOne(`bare-${index}`);
        under.add(creation);
        void creation.then(() => under.delete(creation));
      }
      due += interval;
      const wait = due - Date.now();
      // After a stall it does not make up for all that it missed at once.
      if (wait < -1000) due = Date.now();
      await sleep(Math.max(wait, 0));
    }
    await Promise.all(under);
  }

  async #createOne(name: string): Promise<void> {
    const { namespace, inspect } = this.#options;
    const startedAt = Date.now();
    const pod = barePod(namespace, name, { spec: neverScheduled, labels: { app: 'bare' } });
    const outcome: Pick<Creation, 'failure' | 'defect'> = { failure: undefined, defect: undefined };
    this.#underWay.set(name, startedAt);
    try {
      outcome.defect = inspect(await this.#client.create(pod));
    } catch (error) {
      outcome.failure = error instanceof ApiError ? `${error.code} ${error.message}` : String(error);
    }
    this.#underWay.delete(name);
    this.creations.push({ name, startedAt, endedAt: Date.now(), ...outcome });
  }

  /** Looks at the ReplicaSet's pods and deletes everything, so that its controller goes on making them and nothing piles up. */
  async #turnOver(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await sleep(roundMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      // The API server may be away; the next round finds what this one left.
      await this.#inspectAndDelete().catch(() => undefined);
    }
  }

  async #inspectAndDelete(): Promise<void> {
    const { namespace, inspect } = this.#options;
    for (const pod of await podsOf(this.#client, namespace, 'load')) {
      this.replicaSetPods.set(pod.metadata.name ?? '', inspect(pod));
    }
    await deletePods(this.#client, namespace);
  }
}
