import { setTimeout as sleep } from 'node:timers/promises';
import type { Condition } from '../../../src/api/kubernetes.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import { markDefect, marksOf } from '../../harness/load/marked-config.ts';
import { isPodCreation, refusedCreations } from '../../harness/lost-admissions.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { deployment, podsOf } from '../../harness/workloads.ts';

/** A pod as it was stored. */
interface StoredPod {
  readonly workload: string;
  /** The InjectorConfig that its annotation names. */
  readonly maker: string;
  /** Whole seconds, in milliseconds since 1970. */
  readonly created: number;
  /** When it became ready by its status, in whole seconds; undefined while it was not when it was seen. */
  readyAt: number | undefined;
}

/** How often the pods are looked at. Milliseconds. */
const lookMs = 150;

/** Deployments of one pod each that follow a tag; their pods are made anew when the story says so, and every one of them is looked at. */
export class Workloads {
  readonly names: readonly string[];
  readonly #context: ScenarioContext;
  readonly #audit: AuditLog;
  readonly #namespace: string;
  readonly #seen = new Map<string, StoredPod>();
  readonly #defects: string[] = [];
  readonly #stop = new AbortController();
  #looking: Promise<void> = Promise.resolve();
  #turn = 0;

  private constructor(context: ScenarioContext, audit: AuditLog, namespace: string, count: number) {
    this.#context = context;
    this.#audit = audit;
    this.#namespace = namespace;
    this.names = Array.from({ length: count }, (_, index) => `work-${String(index).padStart(3, '0')}`);
  }

  /** All have a pod when this resolves. */
  static async open(context: ScenarioContext, audit: AuditLog, tag: string, count: number): Promise<Workloads> {
    const workloads = new Workloads(context, audit, await context.namespace(tag, { 'istio.io/rev': tag }), count);
    for (const name of workloads.names) await context.client.create(deployment(workloads.#namespace, name));
    await waitFor(`${count} Deployments to have pods`, async () => (await workloads.makers()).size === count, {
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

  /** The InjectorConfigs that have made the pods of each Deployment that are there now. */
  async makers(): Promise<Map<string, Set<string>>> {
    const makers = new Map<string, Set<string>>();
    for (const pod of await this.#pods()) {
      const { workload, maker } = storedPod(pod);
      makers.set(workload, (makers.get(workload) ?? new Set()).add(maker));
    }
    return makers;
  }

  /** Waits until each Deployment has pods, of one InjectorConfig alone, and tells which of them have pods of this one. */
  async settled(maker: string): Promise<string[]> {
    const makers = await waitFor(
      'every Deployment to have pods of one InjectorConfig',
      async () => {
        const found = await this.makers();
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

  /** Has every pod made anew; each Deployment has another one when this resolves. */
  async renew(): Promise<void> {
    const pods = await this.#pods();
    const old = new Set(pods.map(({ metadata }) => metadata.uid));
    await this.#delete(pods);
    const isRenewed = async () => {
      const now = await this.#pods();
      const workloads = new Set(now.map((pod) => storedPod(pod).workload));
      return workloads.size === this.names.length && now.every(({ metadata }) => !old.has(metadata.uid));
    };
    await waitFor('every pod to be made anew', isRenewed, { interval: lookMs });
  }

  /** When the first pod of an InjectorConfig was ready, by Deployment; of those that were made since a time. */
  readySince(maker: string, since: number): Map<string, number> {
    const ready = new Map<string, number>();
    for (const pod of this.#seen.values()) {
      if (pod.maker !== maker || pod.created < since || pod.readyAt === undefined) continue;
      ready.set(pod.workload, Math.min(pod.readyAt, ready.get(pod.workload) ?? Infinity));
    }
    return ready;
  }

  /** Gives Deployments no pods, or one; resolves when that is so. */
  async scale(names: readonly string[], replicas: 0 | 1): Promise<void> {
    for (const name of names) {
      const target = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: this.#namespace, name } };
      await this.#context.client.patch(target, 'merge', { spec: { replicas } });
    }
    const what = `${names.join(', ')} to have ${replicas} pods`;
    await waitFor(what, async () => {
      const makers = await this.makers();
      return names.every((name) => makers.has(name) === (replicas === 1));
    });
  }

  /** Has the pods of a few Deployments made anew, others each time. */
  async disturb(count: number): Promise<void> {
    const pods = await this.#pods();
    const some = Array.from({ length: count }, (_, index) => pods[(this.#turn + index * 5) % pods.length]);
    this.#turn += 3;
    await this.#delete(some.flatMap((pod) => pod ?? []));
  }

  /** The Deployments that got a pod of `stable` after one of `canary`, by whole seconds, since a time. */
  flippedBack(canary: string, stable: string, since: number): string[] {
    return this.names.filter((name) => {
      const pods = [...this.#seen.values()].filter(({ workload, created }) => workload === name && created >= since);
      const first = Math.min(...pods.filter(({ maker }) => maker === canary).map(({ created }) => created));
      return pods.some(({ maker, created }) => maker === stable && created > first);
    });
  }

  /** Pods that were refused, stored without a sidecar, or made of two configurations; and how many were created. */
  lost(): { readonly created: number; readonly lost: readonly string[] } {
    const creations = this.#audit
      .events()
      .filter((event) => isPodCreation(event) && event.objectRef?.namespace === this.#namespace);
    const refused = refusedCreations(creations).map(({ description }) => description);
    const created = creations.filter(({ responseStatus }) => responseStatus?.code === 201).length;
    return { created, lost: [...refused, ...this.#defects] };
  }

  async #look(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#pods().catch(() => []);
      await sleep(lookMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  async #pods(): Promise<Pod[]> {
    const all = await podsOf(this.#context.client, this.#namespace);
    for (const pod of all) {
      const { uid = '', name = '' } = pod.metadata;
      const seen = this.#seen.get(uid);
      if (seen !== undefined) {
        seen.readyAt ??= readyAt(pod);
        continue;
      }
      this.#seen.set(uid, storedPod(pod));
      const defect = markDefect(pod);
      if (defect !== undefined) this.#defects.push(`pod ${this.#namespace}/${name}: ${defect.what}`);
    }
    return all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  async #delete(pods: readonly Pod[]): Promise<void> {
    const { client } = this.#context;
    await Promise.all(
      pods.map((pod) => client.delete({ ...pod, apiVersion: 'v1', kind: 'Pod' }).catch(() => undefined)),
    );
  }
}

function storedPod(pod: Pod): StoredPod {
  const { labels, creationTimestamp = '' } = pod.metadata;
  const maker = marksOf(pod).configuration?.split('.')[0] ?? 'none';
  return { workload: labels?.['app'] ?? '', maker, created: Date.parse(creationTimestamp), readyAt: readyAt(pod) };
}

function readyAt(pod: Pod): number | undefined {
  const { conditions = [] } = (pod as { status?: { conditions?: unknown } }).status ?? {};
  const ready = (conditions as Condition[]).find(({ type, status }) => type === 'Ready' && status === 'True');
  return ready?.lastTransitionTime === undefined ? undefined : Date.parse(ready.lastTransitionTime);
}
