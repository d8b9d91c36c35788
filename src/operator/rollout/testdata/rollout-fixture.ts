import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';
import { parseRoute } from '../../../routing/route.ts';
import type { RolloutState } from '../../../api/revision-tag/revision-tag.ts';
import { getsCanary, rankOf } from '../../../routing/workload-key.ts';
import type { PodStores } from '../../pods/pod-events.ts';
import { TagFixture } from '../../tags/testdata/tag-fixture.ts';

const namespace = 'shop';
export const tag = 'prod';

/** How a pod does, as tests say it. */
export type Outcome = 'ready' | 'crash';

/** An operator on a cluster in memory, with a tag that leads to `old`, and workloads of one pod each that follow it. */
export class RolloutFixture extends TagFixture {
  readonly #pods = new Map<string, KubernetesObject>();
  #stores: PodStores | undefined;
  #following = new AbortController();
  #version = 1000;

  /** Two revisions, the tag at `old`, and so many pods of it. */
  async begin(workloads: number): Promise<void> {
    this.#pods.clear();
    this.#stores = undefined;
    await this.start();
    await this.install('old');
    await this.install('new');
    await this.tag(tag, 'old');
    for (let index = 0; index < workloads; index += 1) this.#make(`work-${index}`, 'ready');
    this.follow();
  }

  /** Begins to follow the pods, as a process that has come to lead. */
  follow(): void {
    this.#following.abort();
    this.#following = new AbortController();
    const stores = this.reconcilers.followPods(this.#following.signal, () => {
      throw new Error('the pods would have to be read again');
    });
    const labels = { 'istio.io/rev': tag };
    stores.namespaces.upsert({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels, resourceVersion: '5' } });
    for (const pod of this.#pods.values()) stores.pods.upsert(stores.keepOfPod(pod));
    for (const store of [stores.namespaces, stores.pods]) store.keepOnly(new Set(), '1');
    this.#stores = stores;
  }

  /** A new process takes over, and looks at the InjectorConfigs; it reads the pods when it is told to (`follow`). */
  async takeOver(names: readonly string[] = ['old', 'new']): Promise<void> {
    this.restart();
    for (const name of names) await this.reconcile(name);
  }

  /** The path of the tag's webhook when it leads to an InjectorConfig alone. */
  restingPath(name: string): string {
    return `/tags/${tag}/${name}/${this.hash(name)}/inject`;
  }

  /** Makes the pods anew, by what their workloads get now. */
  roll(outcome: Outcome = 'ready', workloads: readonly string[] = [...this.#pods.keys()]): void {
    for (const name of workloads) this.#make(name, outcome);
  }

  /** The pod of a workload goes, as in a restart; `roll` makes it anew. */
  down(name: string): void {
    const pod = this.#pods.get(name);
    this.#pods.delete(name);
    if (pod !== undefined) this.#stores?.pods.remove(this.#stores.keepOfPod(pod));
  }

  /** The namespace of all of them is on its way out, while its pods are still there. */
  leave(): void {
    const stores = this.#stores;
    const found = stores?.namespaces.get(namespace);
    if (stores === undefined || found === undefined) throw new Error('nothing is followed');
    this.#version += 1;
    const metadata = { ...found.metadata, resourceVersion: String(this.#version), deletionTimestamp: this.clock.now().toISOString() };
    stores.namespaces.upsert(stores.keepOfNamespace({ ...found, metadata }));
  }

  /** The workloads that get a threshold's canary. */
  below(threshold: string): string[] {
    return [...this.#pods.keys()].filter((name) => getsCanary(rankOf(tag, { namespace, kind: 'Pod', name }), threshold));
  }

  /** The workloads that get stable by a threshold. */
  above(threshold: string): string[] {
    const below = new Set(this.below(threshold));
    return [...this.#pods.keys()].filter((name) => !below.has(name));
  }

  /** Moves the tag to a revision by steps of these weights. */
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

  /** A pass over the tag so many milliseconds later, once what was written has been taken over. */
  async pass(later = 0): Promise<number> {
    if (later > 0) await this.clock.advance(later);
    await this.caughtUp();
    await this.clock.advance(100);
    return this.reconcileTag(tag);
  }

  /** Passes, and pods made anew, until the rollout is in a phase; those of the canary do as is said. */
  async passUntil(phase: RolloutState['phase'], outcome: Outcome = 'ready'): Promise<void> {
    for (let turn = 0; turn < 40; turn += 1) {
      if (this.rollout?.phase === phase) return;
      this.roll();
      this.roll(outcome, this.below(this.threshold));
      await this.pass(1000);
    }
    throw new Error(`it never is ${phase}: ${JSON.stringify(this.rollout)}`);
  }

  get rollout(): RolloutState | undefined {
    return this.tagStatus(tag).rollout as RolloutState | undefined;
  }

  /** The threshold in force; empty at rest. */
  get threshold(): string {
    const route = parseRoute(this.tagPath(tag) ?? '')?.route;
    return route?.canary === undefined ? '' : route.threshold;
  }

  #make(name: string, outcome: Outcome): void {
    this.#version += 1;
    const route = parseRoute(this.tagPath(tag) ?? '')?.route;
    const rank = rankOf(tag, { namespace, kind: 'Pod', name });
    const isCanary = route?.canary !== undefined && !route.shadow && getsCanary(rank, route.threshold);
    const made = isCanary ? route.canary : route?.stable;
    const maker = `${made?.injectorConfig}.${made?.hash}`;
    const at = this.clock.now().toISOString();
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
