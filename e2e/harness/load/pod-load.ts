import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import type { Pod } from '../pod.ts';
import { barePod, deletePods, deployment, neverScheduled, podsOf } from '../workloads.ts';
import type { PodDefect } from '../lost-admissions.ts';
import { waitFor } from '../wait-for.ts';

export interface PodLoadOptions {
  /** A namespace that only the load uses, and whose pods are injected. */
  namespace: string;
  /** The number of pods that the load itself creates per second; default 30. */
  perSecond?: number;
  /** The number of pods of the ReplicaSet, which recreates deleted pods; default 5. */
  replicaSetPods?: number;
  /** Returns the defect of a stored pod; undefined if the pod is correct. */
  inspect: (pod: Pod) => PodDefect | undefined;
}

interface Creation {
  startedAt: number;
  endedAt: number;
  name: string;
  failure: string | undefined;
  defect: PodDefect | undefined;
}

/** The milliseconds between two rounds. Each round deletes all created pods. */
const roundMs = 1500;
const maxUnderWay = 64;

/**
 * Creates pods continuously: bare pods, and pods of a ReplicaSet, which recreates deleted pods. All
 * pods are stored. Failures do not stop the load.
 */
export class PodLoad {
  readonly creations: Creation[] = [];
  /** The names of inspected pods of the ReplicaSet, with their defects. */
  readonly replicaSetPods = new Map<string, PodDefect | undefined>();
  readonly startedAt = new Date();
  readonly #client: ApiClient;
  readonly #options: PodLoadOptions;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  /** The start time of each creation in flight, by pod name. */
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
    // The load measures admission, so keep the scheduler and the fake kubelets idle.
    if (replicas > 0) await client.create(deployment(namespace, 'load', { spec: neverScheduled, replicas }));
    load.#running = Promise.all([load.#create(), load.#turnOver()]);
    return load;
  }

  /** Waits until all creations started before a time (milliseconds since 1970) are answered. */
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
      // After a stall, skip the missed creations.
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

  /** Inspects the ReplicaSet's pods. Deletes all pods; the ReplicaSet then creates new pods. */
  async #turnOver(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await sleep(roundMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      // If the API server is unavailable, the next round tries again.
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
