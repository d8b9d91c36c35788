/**
 * Measures the bytes of the heap that the leader keeps for each pod, by field. Takes some seconds.
 *
 *     node --import ./scripts/typescript/register.js bench/pods/main.ts
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { ObjectStore } from '../../src/kube/object-store.ts';
import { podRecord } from '../../src/operator/pods/pod-record.ts';
import { PodGroups, type PodRecord } from '../../src/operator/usage/pod-group.ts';
import { traitsOf } from '../../src/operator/usage/pod-traits.ts';
import { writeMeasurement } from '../report.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const count = 20_000;
const podsPerWorkload = 10;
const relevant = {
  labels: new Set(['istio.io/rev', 'sidecar.istio.io/inject']),
  annotations: new Set(['sidecar.istio.io/inject']),
  statuses: new Set(['sidecar.istio.io/status']),
};

/** Returns the text of a pod as the API server sends it, so that no string is shared. */
function podText(index: number, podsOfWorkload: number): string {
  const owner = `checkout-service-${Math.floor(index / podsOfWorkload)}-5d4f8c7b9`;
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${owner}-${index.toString(36).padStart(5, 'x')}`,
      generateName: `${owner}-`,
      namespace: `team-${Math.floor(index / 20)}`,
      uid: crypto.randomUUID(),
      resourceVersion: String(800_000_000 + index),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'checkout', 'istio.io/rev': '1-25', 'pod-template-hash': '5d4f8c7b9' },
      annotations: {
        'sidecar-injector.io/config': '1-25.0a1b2c3d',
        'sidecar.istio.io/status': '{"revision":"1-25","containers":["istio-proxy"]}',
      },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: '1', controller: true }],
    },
    spec: {
      containers: [
        { name: 'main', image: 'main' },
        { name: 'istio-proxy', image: 'proxyv2' },
      ],
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

/** Returns what the leader keeps. */
function keptPods(podsOfWorkload: number): { readonly store: ObjectStore<PodRecord>; readonly groups: PodGroups } {
  const store = new ObjectStore<PodRecord>();
  const groups = new PodGroups();
  for (let index = 0; index < count; index++) {
    const pod = JSON.parse(podText(index, podsOfWorkload)) as KubernetesObject;
    const traits = traitsOf(pod, relevant);
    const group = traits && groups.of(traits);
    const record = podRecord(pod, group);
    store.upsert(record);
    group?.pods.set(record.metadata.name ?? '', record);
  }
  return { store, groups };
}

/** Returns the bytes that the result of a function keeps, for each pod. */
async function bytesOf(make: () => unknown): Promise<number> {
  const used = async (): Promise<number> => {
    for (let turn = 0; turn < 3; turn++) {
      // A weak reference keeps its object until the turn ends.
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    return process.memoryUsage().heapUsed;
  };
  const before = await used();
  const kept = [make()];
  const bytes = ((await used()) - before) / count;
  kept.pop();
  return Math.round(bytes);
}

/** Returns the bytes of one text of each pod, without the list that holds them. */
async function bytesOfText(read: (record: PodRecord) => string): Promise<number> {
  return (await bytesOf(() => keptPods(podsPerWorkload).store.list().map(read))) - 8;
}

const whole = await bytesOf(() => keptPods(podsPerWorkload));
const alone = await bytesOf(() => keptPods(1));
const texts = {
  name: await bytesOfText(({ metadata }) => metadata.name ?? ''),
  uid: await bytesOfText(({ metadata }) => metadata.uid ?? ''),
  resourceVersion: await bytesOfText(({ metadata }) => metadata.resourceVersion ?? ''),
};
const groups = await bytesOf(() => [
  ...new Set(
    keptPods(podsPerWorkload)
      .store.list()
      .map(({ group }) => group?.traits),
  ),
]);
const { name, uid, resourceVersion } = texts;
const figures = {
  pods: count,
  bytesForPod: whole,
  bytesForPodWithoutEquals: alone,
  byField: { name, uid, resourceVersion, traitsOfItsWorkload: groups },
  // The record with its numbers, and its places in the store and in its group with their keys.
  recordAndPlaces: whole - name - uid - resourceVersion - groups,
};
console.log(JSON.stringify(figures, undefined, 2));
console.log(writeMeasurement('bench-pods', figures));
