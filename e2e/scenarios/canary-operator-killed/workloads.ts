import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLog } from '../../harness/audit-log.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { deployment } from '../../harness/workloads.ts';
import { makersOf, PodSightings, workloadOf, type Sighting } from '../canary/pod-sightings.ts';

/** How often the pods are looked at. Milliseconds. */
const lookMs = 150;

/** Deployments of one pod each that follow a tag; their pods are made again when the story says so, and every one of them is looked at. */
export class Workloads {
  readonly names: readonly string[];
  readonly #context: ScenarioContext;
  readonly #pods: PodSightings;
  readonly #stop = new AbortController();
  #looking: Promise<void> = Promise.resolve();
  #turn = 0;

  private constructor(context: ScenarioContext, pods: PodSightings, count: number) {
    this.#context = context;
    this.#pods = pods;
    this.names = Array.from({ length: count }, (_, index) => `work-${String(index).padStart(3, '0')}`);
  }

  /** All have a pod when this resolves. */
  static async open(context: ScenarioContext, audit: AuditLog, tag: string, count: number): Promise<Workloads> {
    const namespace = await context.namespace(tag, { 'istio.io/rev': tag });
    const workloads = new Workloads(context, new PodSightings(context.client, audit, namespace), count);
    for (const name of workloads.names) await context.client.create(deployment(namespace, name));
    await waitFor(`${count} Deployments to have pods`, async () => (await workloads.#makers()).size === count, {
      timeout: 30_000,
    });
    workloads.#looking = workloads.#look();
    context.atEnd(() => workloads.close());
    return workloads;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
  }

  /** What was seen of their pods. */
  get pods(): Pick<PodSightings, 'flippedBack' | 'lost' | 'madeAt'> {
    return this.#pods;
  }

  /** Waits until each Deployment has pods, of one InjectorConfig alone, and tells which of them have pods of this one. */
  async settled(maker: string): Promise<string[]> {
    const makers = await waitFor(
      'every Deployment to have pods of one InjectorConfig',
      async () => {
        const found = await this.#makers();
        return found.size === this.names.length && [...found.values()].every(({ size }) => size === 1) && found;
      },
      { interval: lookMs },
    );
    return [...makers].filter(([, each]) => each.has(maker)).map(([name]) => name);
  }

  /** Waits until all pods are of this InjectorConfig. */
  async allOf(maker: string, timeout: number): Promise<void> {
    const isEverywhere = async () => (await this.settled(maker)).length === this.names.length;
    await waitFor(`every pod to be of ${maker}`, isEverywhere, { timeout });
  }

  /** Has every pod made again; each Deployment has another one when this resolves. */
  async renew(): Promise<void> {
    const pods = await this.#pods.look();
    const old = new Set(pods.map(({ metadata }) => metadata.uid));
    await this.#pods.delete(pods);
    const isRenewed = async () => {
      const now = await this.#pods.look();
      const workloads = new Set(now.map(workloadOf));
      return workloads.size === this.names.length && now.every(({ metadata }) => !old.has(metadata.uid));
    };
    await waitFor('every pod to be made again', isRenewed, { interval: lookMs });
  }

  /** When the first pod of an InjectorConfig was ready, or not before when, by Deployment; of those that were made since a time. */
  readySince(maker: string, since: number): Map<string, number> {
    const ready = new Map<string, number>();
    const reported = this.#pods.reported();
    for (const pod of this.#madeBy(maker, since)) {
      const at = pod.readyAt ?? (reported.has(pod.name) ? pod.created : Infinity);
      ready.set(pod.workload, Math.min(at, ready.get(pod.workload) ?? Infinity));
    }
    return ready;
  }

  /** The Deployments that got a pod of an InjectorConfig since a time, and before another. Milliseconds since 1970. */
  gotBetween(maker: string, since: number, until: number): string[] {
    const made = this.#madeBy(maker, since).filter(({ created }) => created < until);
    return [...new Set(made.map(({ workload }) => workload))];
  }

  /** Gives Deployments no pods, or one; resolves when that is so. */
  async scale(names: readonly string[], replicas: 0 | 1): Promise<void> {
    const { namespace } = this.#pods;
    for (const name of names) {
      const target = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name } };
      await this.#context.client.patch(target, 'merge', { spec: { replicas } });
    }
    const what = `${names.join(', ')} to have ${replicas} pods`;
    await waitFor(what, async () => {
      const makers = await this.#makers();
      return names.every((name) => makers.has(name) === (replicas === 1));
    });
  }

  /** Has the pods of a few Deployments made again, others each time. */
  async disturb(count: number): Promise<void> {
    const pods = await this.#pods.look();
    const some = Array.from({ length: count }, (_, index) => pods[(this.#turn + index * 5) % pods.length]);
    this.#turn += 3;
    await this.#pods.delete(some.flatMap((pod) => pod ?? []));
  }

  #madeBy(maker: string, since: number): Sighting[] {
    return this.#pods.seen.filter((pod) => pod.maker === maker && pod.created >= since);
  }

  /** The InjectorConfigs that have made the pods of each Deployment that are there now. */
  async #makers(): Promise<Map<string, Set<string>>> {
    return makersOf(await this.#pods.look());
  }

  async #look(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#pods.look().catch(() => []);
      await sleep(lookMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }
}
