import { randomUUID } from 'node:crypto';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind, resourcePath } from '../../../src/kube/resource-kinds.ts';
import { objectOf } from '../../harness/apply.ts';
import { many } from '../../harness/operator-requests.ts';
import { runningContainers, type Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { copyStored, readStored, writeStored, type StoredObject } from '../../harness/stored-objects.ts';
import { found } from '../../harness/wait-for.ts';
import { barePod, createNamespace, deployment } from '../../harness/workloads.ts';

const podKind = resourceKind('v1', 'Pod');
const podsPerNamespace = 20;
const podsPerWorkload = 10;
const podsPerNode = 30;

/** Texts of a sample that each copy replaces, by others of the same length. */
const sample = {
  owner: 'app-w',
  pod: 'ppppp',
  node: 'node-nnnnn',
  ownerUid: '00000000-0000-4000-8000-000000000000',
} as const;
const templateHash = '5d4f8c7b9';

/** What the API server stored for a revision. */
interface Sample {
  readonly revision: string;
  readonly name: string;
  readonly namespace: Original;
  readonly workload: Original;
  readonly pod: Original;
}

interface Original {
  readonly stored: StoredObject;
  readonly uid: string;
}

/**
 * Fills a cluster with pods of 8 kB, in Deployments of 10 pods and namespaces of 20 pods. The API
 * server stores one pod of each revision; copies with other names are written into etcd, because it
 * takes an hour to create 100,000 pods on two cores. Only the API server and etcd go on.
 */
export class ManyPods {
  readonly #context: ScenarioContext;
  readonly #samples: readonly Sample[];
  /** The number of other pods. */
  #others = 0;
  namespaces = 0;

  private constructor(context: ScenarioContext, samples: readonly Sample[]) {
    this.#context = context;
    this.#samples = samples;
  }

  /** Stops the other components. @param revisions the revisions and tags that namespaces follow */
  static async start(context: ScenarioContext, revisions: readonly string[]): Promise<ManyPods> {
    for (const [index, revision] of revisions.entries())
      await createNamespace(context.client, sampleNamespace(index), { 'istio.io/rev': revision });
    const plane = context.requireControlPlane();
    for (const name of ['kwok', 'kube-scheduler', 'kube-controller-manager'] as const)
      await plane.component(name).kill();
    const samples = await Promise.all(revisions.map((revision, index) => createSample(context, revision, index)));
    const pods = new ManyPods(context, samples);
    await pods.#checkCopies();
    pods.#others = await pods.#count();
    return pods;
  }

  /** Adds namespaces until there are so many pods. */
  async growTo(pods: number): Promise<void> {
    const { etcd } = this.#context.requireControlPlane();
    const began = Date.now();
    const to = Math.ceil(pods / podsPerNamespace);
    await many(this.namespaces, to, 4, (index) => writeStored(etcd, this.#namespace(index)));
    this.namespaces = to;
    const seconds = Math.round((Date.now() - began) / 1000);
    await this.#context.check(`the API server has ${pods} pods, after ${seconds} s of writing`, async () =>
      found(String((await this.#count()) - this.#others), String(pods)),
    );
    // If its watch cannot follow the writes, the API server lists all pods again, for minutes.
    const last = { namespace: namespaceName(to - 1), resourceVersion: '0' };
    const isCached = async () => (await this.#context.client.list(podKind, last)).items.length === podsPerNamespace;
    await this.#context.check('its watch cache has them, too', isCached, { timeout: 600_000 });
  }

  /** Returns the number of workloads whose pods follow a revision or tag. */
  workloadsOf(revision: string): number {
    const indexes = [...Array(this.namespaces).keys()];
    const matching = indexes.filter((index) => this.#sample(index).revision === revision);
    return (matching.length * podsPerNamespace) / podsPerWorkload;
  }

  #sample(index: number): Sample {
    return this.#samples[index % this.#samples.length]!;
  }

  async #count(): Promise<number> {
    const page = await this.#context.client.request('GET', resourcePath(podKind, {}), { query: { limit: 1 } });
    const { items, metadata } = page as { items: unknown[]; metadata: { remainingItemCount?: number } };
    return items.length + (metadata.remainingItemCount ?? 0);
  }

  #namespace(index: number): StoredObject[] {
    const { name, namespace, workload, pod } = this.#sample(index);
    const place = { [name]: namespaceName(index) };
    const owners = [...Array(podsPerNamespace / podsPerWorkload).keys()].map((owner) => {
      return { name: { ...place, [sample.owner]: `app-${owner}` }, uid: { [sample.ownerUid]: randomUUID() } };
    });
    const pods = [...Array(podsPerNamespace).keys()].map((at) => {
      const owner = owners[Math.floor(at / podsPerWorkload)]!;
      const node = `node-${digits(Math.floor((index * podsPerNamespace + at) / podsPerNode), 5)}`;
      return copyOf(pod, { ...owner.name, ...owner.uid, [sample.pod]: digits(at, 5), [sample.node]: node });
    });
    return [copyOf(namespace, place), ...owners.map((owner) => copyOf(workload, owner.name)), ...pods];
  }

  /** Checks that the API server takes a copy for a pod like any other. */
  async #checkCopies(): Promise<void> {
    const { client } = this.#context;
    const { etcd } = this.#context.requireControlPlane();
    const index = 99_999;
    await writeStored(etcd, this.#namespace(index));
    const namespace = namespaceName(index);
    const pods = async () => (await client.list<Pod & KubernetesObject>(podKind, { namespace })).items;
    await this.#context.check(`the API server lists ${podsPerNamespace} pods that were written into etcd`, async () =>
      found(String((await pods()).length), String(podsPerNamespace)),
    );
    await this.#context.checkNow('each has 8 kB and a sidecar, and can be changed and deleted', async () => {
      for (const pod of await pods()) {
        found(String(runningContainers(pod).length), '2');
        if (JSON.stringify(pod).length < 8000) throw new Error(`${JSON.stringify(pod)} has less than 8 kB`);
        const changed = await client.patch<Pod>(pod, 'merge', { metadata: { annotations: { changed: 'yes' } } });
        found(changed.metadata.annotations?.['changed'] ?? '', 'yes');
        await client.delete(pod, { gracePeriodSeconds: 0, uid: pod.metadata.uid ?? '' });
      }
      return found(String((await pods()).length), '0');
    });
    for (const owner of [0, 1]) await client.delete(objectOf('apps/v1', 'Deployment', `app-${owner}`, namespace));
  }
}

/** Copies an object with another uid. */
function copyOf({ stored, uid }: Original, texts: Readonly<Record<string, string>>): StoredObject {
  return copyStored(stored, { ...texts, [uid]: randomUUID() });
}

/** Returns a namespace of the pods. */
function namespaceName(index: number): string {
  return `scale-pods-${digits(index, 5)}`;
}

/** Returns a namespace that follows a revision, but has none of the pods. */
export function sampleNamespace(index: number): string {
  return `scale-pods-s${digits(index, 4)}`;
}

async function createSample(context: ScenarioContext, revision: string, index: number): Promise<Sample> {
  const name = sampleNamespace(index);
  const { client } = context;
  const { etcd } = context.requireControlPlane();
  const original = async (path: string, { metadata: { uid = '' } }: KubernetesObject): Promise<Original> => {
    return { stored: await readStored(etcd, `/registry/${path}`), uid };
  };
  const replicas = podsPerWorkload;
  const workload = await client.create(deployment(name, sample.owner, { replicas }));
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  await client.patch(workload, 'merge', { status: { observedGeneration: 1, ...counts } }, { subresource: 'status' });
  const pod = await client.create(largePod(name));
  await client.patch(pod, 'merge', { status: statusOf(pod) }, { subresource: 'status' });
  const samples = {
    ...{ revision, name },
    namespace: await original(`namespaces/${name}`, await client.get(resourceKind('v1', 'Namespace'), name)),
    workload: await original(`deployments/${name}/${sample.owner}`, workload),
    pod: await original(`pods/${name}/${pod.metadata.name ?? ''}`, pod),
  };
  await client.delete(pod, { gracePeriodSeconds: 0 });
  await client.delete(workload);
  return samples;
}

/** Builds a pod of 8 kB. */
function largePod(namespace: string): KubernetesObject & Pod {
  const env = Array.from({ length: 80 }, (_, index) => ({ name: `SETTING_${index}`, value: 'v'.repeat(75) }));
  const owner = `${sample.owner}-${templateHash}`;
  const labels = { app: sample.owner, 'pod-template-hash': templateHash };
  const pod = barePod(namespace, `${owner}-${sample.pod}`, { labels });
  const [container] = pod.spec.containers;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${owner}-`,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: sample.ownerUid, controller: true },
      ],
    },
    spec: {
      ...pod.spec,
      nodeName: sample.node,
      automountServiceAccountToken: false,
      containers: [{ ...container!, env }],
    },
  };
}

/** Returns the status of a pod that runs. */
function statusOf(pod: Pod): NonNullable<Pod['status']> {
  const at = new Date().toISOString().replace(/\.\d+/, '');
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => {
    return { type, status: 'True' as const, lastTransitionTime: at };
  });
  const containerStatuses = pod.spec.containers.map(({ name, image }) => {
    const id = `containerd://${'0'.repeat(64)}`;
    return {
      name,
      image,
      imageID: id,
      ready: true,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: at } },
    };
  });
  return { phase: 'Running', conditions, containerStatuses };
}

const digits = (number: number, length: number): string => String(number).padStart(length, '0');
