import { getEventListeners } from 'node:events';
import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';
import { restartedAnnotation } from '../../../api/revision-tag/restart-annotation.ts';
import type { RestartStatus } from '../../../api/revision-tag/revision-tag.ts';
import type { RestartFigures } from '../../ports.ts';
import type { PodStores } from '../../pods/pod-events.ts';
import type { OperatorSettings } from '../../settings.ts';
import { TagFixture } from '../../tags/testdata/tag-fixture.ts';

/** The default namespace of workloads, and the default bounds. */
export const namespace = 'shop';
export const bounds = { maxUnavailableWorkloads: 1, perNamespace: 1, minReadySeconds: 0, readyTimeout: '10m' };

const plurals: Record<string, string> = { Deployment: 'deployments', StatefulSet: 'statefulsets', DaemonSet: 'daemonsets' };

/** An operator on an in-memory cluster with one-pod workloads that follow tag `prod`. */
export class RestartFixture extends TagFixture {
  /** The increments of the metric of restarted workloads, as `tag +1`; `tag +0` for a new tag. */
  counted: string[] = [];
  readonly figures = new Map<string, RestartFigures | undefined>();
  #stores!: PodStores;
  #leading = new AbortController();
  #version = 1000;

  /** Installs revisions `old` and `new`, and tag `prod`, which points to `old`, with a strategy. */
  async begin(strategy: Record<string, unknown> = { restart: bounds }, settings: Partial<OperatorSettings> = {}): Promise<void> {
    this.counted = [];
    this.figures.clear();
    this.metrics.restarted = (tag, workloads) => this.counted.push(`${tag} +${workloads}`);
    this.metrics.restarts = (tag, figures) => this.figures.set(tag, figures);
    await this.start({ restartWorkloads: true, ...settings });
    await this.install('old');
    await this.install('new');
    await this.tag('prod', 'old', { strategy });
    this.lead();
  }

  /** Ends the previous leadership, and lists and watches the pods as a new leader does. */
  lead(): void {
    this.#leading.abort();
    this.#leading = new AbortController();
    this.#stores = this.reconcilers.followPods(this.#leading.signal, () => {
      throw new Error('the pods would have to be listed again');
    });
    for (const store of [this.#stores.namespaces, this.#stores.pods]) store.keepOnly(new Set(), '1');
    this.namespace(namespace, 'prod');
  }

  /** The number of listeners that wait for the end of the leadership. */
  get waiting(): number {
    return getEventListeners(this.#leading.signal, 'abort').length;
  }

  /** Ends the leadership. */
  resign(): void {
    this.#leading.abort();
  }

  /** Adds a namespace that follows a tag. */
  namespace(name: string, tag: string, annotations: Record<string, string> = {}): void {
    const metadata = { name, labels: { 'istio.io/rev': tag }, annotations, resourceVersion: this.#next() };
    this.#stores.namespaces.upsert(this.#stores.keepOfNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata }));
  }

  /** Adds a complete workload whose only pod has this configuration. */
  workload(name: string, has = 'old.00000000', kind = 'Deployment', where = namespace): void {
    const selector = { matchLabels: { app: name } };
    this.cluster.put(plurals[kind] ?? '', {
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, namespace: where, generation: 1 },
      spec: { replicas: 1, selector, template: { metadata: { labels: { app: name } }, spec: { containers: [] } } },
      status: complete(1),
    });
    this.pod(name, has, kind, where);
  }

  /** Adds several workloads. */
  workloads(...names: readonly string[]): void {
    for (const name of names) this.workload(name);
  }

  /** Recreates the pod of a workload with this configuration. */
  pod(name: string, has: string, kind = 'Deployment', where = namespace, status: Record<string, unknown> = {}): void {
    const owner = kind === 'Deployment' ? { kind: 'ReplicaSet', name: `${name}-5d9c7bbbf4` } : { kind, name };
    const pod: KubernetesObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${name}-0`,
        namespace: where,
        uid: `uid-${this.#next()}`,
        resourceVersion: this.#next(),
        creationTimestamp: this.clock.now().toISOString(),
        labels: { app: name, 'pod-template-hash': '5d9c7bbbf4' },
        annotations: {
          'sidecar-injector.io/config': has,
          'sidecar.istio.io/status': JSON.stringify({ revision: has.split('.')[0] }),
        },
        ownerReferences: [{ apiVersion: 'apps/v1', ...owner, uid: `uid-${name}`, controller: true }],
      },
      spec: {},
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ...status },
    };
    this.#stores.pods.upsert(this.#stores.keepOfPod(pod));
  }

  /** Adds a complete workload without pods. */
  complete(name: string, kind = 'Deployment', where = namespace): void {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [] } };
    const spec = { replicas: 1, selector: { matchLabels: { app: name } }, template };
    const metadata = { name, namespace: where, generation: 1 };
    this.cluster.put(plurals[kind] ?? '', { apiVersion: 'apps/v1', kind, metadata, spec, status: complete(1) });
  }

  /** Lets the operator observe a pod of the cluster, as its watch does. */
  observe(name: string, where = namespace): void {
    const pod = this.cluster.get('pods', name, where);
    if (pod !== undefined) this.#stores.pods.upsert(this.#stores.keepOfPod(pod));
  }

  /** Completes a restart: recreates the pod with this configuration. */
  completes(name: string, has: string, kind = 'Deployment', where = namespace): void {
    this.cluster.edit(plurals[kind] ?? '', name, where, (object) => {
      object.status = complete(object.metadata.generation ?? 0);
    });
    this.pod(name, has, kind, where);
  }

  /** Returns our annotation on the pod template of a workload. */
  restarted(name: string, kind = 'Deployment', where = namespace): string | undefined {
    const { spec } = this.cluster.get(plurals[kind] ?? '', name, where) as { spec?: { template?: KubernetesObject } };
    return spec?.template?.metadata.annotations?.[restartedAnnotation];
  }

  /** The writes to workloads, in order. */
  get restarts(): string[] {
    return this.cluster.writes.filter((each) => /(deployments|statefulsets|daemonsets) /.test(each));
  }

  /** Returns the Events about workloads, as `name Reason: note`. */
  eventsOfWorkloads(where = namespace): string[] {
    return this.cluster.names('events').flatMap((name) => {
      const event = this.cluster.get('events', name, where);
      if (event === undefined) return [];
      const { name: workload = '' } = event.regarding as { name?: string };
      return [`${workload} ${String(event.reason)}: ${String(event.note)}`];
    });
  }

  /** Waits for judgements, advances the clock by 200 ms or more, and runs a pass. */
  async pass(): Promise<number> {
    await this.caughtUp();
    await this.clock.advance(200);
    return this.untilKilled(this.reconcilers.restarts.pass(this.#leading.signal));
  }

  /** Runs passes until a condition holds. Pauses after each pass, because the watches are real. */
  async passUntil(what: () => boolean): Promise<void> {
    for (let turn = 0; turn < 300; turn += 1) {
      if (what()) return;
      await this.passOnce(0);
    }
    throw new Error(`not true after 300 passes: ${what.toString()}; ${JSON.stringify(this.status())}`);
  }

  /** Advances the clock, and runs one pass. The watches are real. */
  async passOnce(later: number): Promise<void> {
    await this.clock.advance(later);
    await this.pass();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** Advances the clock by `later` ms, and runs passes until watches and webhooks have settled. */
  async passOn(later = 0): Promise<void> {
    if (later > 0) await this.clock.advance(later);
    for (let turn = 0; turn < 40; turn += 1) {
      await this.pass();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** Returns the `status.restarts` that the next pass over the tag will write. */
  status(tag = 'prod'): RestartStatus | undefined {
    const object = this.reconcilers.targets.tags().find(({ metadata }) => metadata.name === tag);
    return object && this.reconcilers.restarts.shown(object);
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }
}

function complete(generation: number): Record<string, unknown> {
  const replicas = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const scheduled = { desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 };
  return { observedGeneration: generation, ...replicas, ...scheduled };
}
