import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';
import { parseRoute } from '../../../routing/route.ts';
import type { RolloutState } from '../../../api/revision-tag/revision-tag.ts';
import { getsCanary, rankOf } from '../../../routing/workload-key.ts';
import type { PodStores } from '../../pods/pod-events.ts';
import type { OperatorSettings } from '../../settings.ts';
import { TagFixture } from '../../tags/testdata/tag-fixture.ts';

const namespace = 'shop';
export const tag = 'prod';

/** The health of a pod that a test creates. */
export type Outcome = 'ready' | 'crash';

/** An operator on an in-memory cluster with one-pod Deployments that follow tag `prod`. */
export class RolloutFixture extends TagFixture {
  /** The pods that were created, in order: the workload, its InjectorConfig, and the time. */
  readonly made: { readonly workload: string; readonly maker: string; readonly at: number }[] = [];
  readonly #pods = new Map<string, KubernetesObject>();
  #settings: Partial<OperatorSettings> = {};
  #stores: PodStores | undefined;
  #following = new AbortController();
  #version = 1000;

  /** Creates revisions `old` and `new`, the tag, which points to `old`, and the workloads. */
  async begin(workloads: number, settings: Partial<OperatorSettings> = {}): Promise<void> {
    this.made.length = 0;
    this.#pods.clear();
    this.#stores = undefined;
    this.#settings = settings;
    await this.start(settings);
    await this.install('old');
    await this.install('new');
    await this.tag(tag, 'old');
    for (let index = 0; index < workloads; index += 1) this.#make(`work-${index}`, 'ready');
    this.follow();
  }

  /** Lists and watches the pods, as a new leader does. */
  follow(): void {
    this.#following.abort();
    this.#following = new AbortController();
    const stores = this.reconcilers.followPods(this.#following.signal, () => {
      throw new Error('the pods would have to be listed again');
    });
    const labels = { 'istio.io/rev': tag };
    stores.namespaces.upsert({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels, resourceVersion: '5' } });
    for (const pod of this.#pods.values()) stores.pods.upsert(stores.keepOfPod(pod));
    for (const store of [stores.namespaces, stores.pods]) store.keepOnly(new Set(), '1');
    this.#stores = stores;
  }

  /** Starts a new leader and reconciles the InjectorConfigs. `follow` then lists the pods. */
  async takeOver(names: readonly string[] = ['old', 'new']): Promise<void> {
    this.restart(this.#settings);
    for (const name of names) await this.reconcile(name);
  }

  /** Returns the path of the tag's webhook while no rollout is in progress. */
  restingPath(name: string): string {
    return `/tags/${tag}/${name}/${this.hash(name)}/inject`;
  }

  /** Recreates the pods with the configuration that their workloads now get. */
  roll(outcome: Outcome = 'ready', workloads: readonly string[] = [...this.#pods.keys()]): void {
    for (const name of workloads) this.#make(name, outcome);
  }

  /** Deletes the pod of a workload, as a restart does. `roll` recreates the pod. */
  down(name: string): void {
    const pod = this.#pods.get(name);
    this.#pods.delete(name);
    if (pod !== undefined) this.#stores?.pods.remove(this.#stores.keepOfPod(pod));
  }

  /** Marks the namespace of all pods as being deleted. The pods still exist. */
  leave(): void {
    const stores = this.#stores;
    const found = stores?.namespaces.get(namespace);
    if (stores === undefined || found === undefined) throw new Error('call follow() first');
    this.#version += 1;
    const metadata = { ...found.metadata, resourceVersion: String(this.#version), deletionTimestamp: this.clock.now().toISOString() };
    stores.namespaces.upsert(stores.keepOfNamespace({ ...found, metadata }));
  }

  /** Returns the workloads that use the canary at a threshold. */
  below(threshold: string): string[] {
    return [...this.#pods.keys()].filter((name) => getsCanary(rankOf(tag, { namespace, kind: 'Deployment', name }), threshold));
  }

  /** Returns the workloads that use stable at a threshold. */
  above(threshold: string): string[] {
    const below = new Set(this.below(threshold));
    return [...this.#pods.keys()].filter((name) => !below.has(name));
  }

  /** Moves the tag to a revision in steps of these weights (percent), and runs a pass. */
  canary(revision: string, weights: readonly number[], analysis: Record<string, unknown> = {}): Promise<number> {
    const steps = weights.map((weight) => ({ weight }));
    const canary = { steps, analysis: { minimumPods: 1, minReadySeconds: 0, ...analysis } };
    return this.strategy(revision, { canary });
  }

  strategy(revision: string, strategy: Record<string, unknown> | undefined): Promise<number> {
    this.cluster.edit('revisiontags', tag, undefined, (object) => {
      object.metadata.generation = (object.metadata.generation ?? 0) + 1;
      object.spec = { revision, ...(strategy && { strategy }) };
    });
    return this.pass();
  }

  /** Advances the clock, waits for the caches to contain all writes, and runs a pass. */
  async pass(later = 0): Promise<number> {
    if (later > 0) await this.clock.advance(later);
    await this.caughtUp();
    await this.clock.advance(100);
    return this.reconcileTag(tag);
  }

  /** Runs passes, recreating pods, until `phase` is reached. Canary pods get health `outcome`. */
  async passUntil(phase: RolloutState['phase'], outcome: Outcome = 'ready'): Promise<void> {
    for (let turn = 0; turn < 40; turn += 1) {
      if (this.rollout?.phase === phase) return;
      this.roll();
      this.roll(outcome, this.below(this.threshold));
      await this.pass(1000);
    }
    throw new Error(`the rollout did not reach phase ${phase} in 40 turns: ${JSON.stringify(this.rollout)}`);
  }

  get rollout(): RolloutState | undefined {
    return this.tagStatus(tag).rollout as RolloutState | undefined;
  }

  /** The threshold in the live path; empty if there is no canary. */
  get threshold(): string {
    const route = parseRoute(this.tagPath(tag) ?? '')?.route;
    return route?.canary === undefined ? '' : route.threshold;
  }

  #make(name: string, outcome: Outcome): void {
    this.#version += 1;
    const route = parseRoute(this.tagPath(tag) ?? '')?.route;
    const rank = rankOf(tag, { namespace, kind: 'Deployment', name });
    const isCanary = route?.canary !== undefined && !route.shadow && getsCanary(rank, route.threshold);
    const made = isCanary ? route.canary : route?.stable;
    const maker = `${made?.injectorConfig}.${made?.hash}`;
    const at = this.clock.now().toISOString();
    this.made.push({ workload: name, maker: made?.injectorConfig ?? '', at: Date.parse(at) });
    const ready = outcome === 'ready' ? 'True' : 'False';
    const waiting = { state: { waiting: { reason: 'CrashLoopBackOff' } }, restartCount: 1 };
    const pod: KubernetesObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        uid: `uid-${this.#version}`,
        resourceVersion: String(this.#version),
        creationTimestamp: at,
        labels: { app: name, 'pod-template-hash': '5d9c7bbbf4' },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-5d9c7bbbf4`, uid: `uid-${name}`, controller: true }],
        annotations: {
          'sidecar-injector.io/config': maker,
          'sidecar.istio.io/status': JSON.stringify({ revision: maker.split('.')[0] }),
        },
      },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: ready, lastTransitionTime: at }],
        ...(outcome === 'crash' ? { containerStatuses: [waiting] } : {}),
      },
    };
    this.#pods.set(name, pod);
    if (this.#stores !== undefined) this.#stores.pods.upsert(this.#stores.keepOfPod(pod));
  }
}
