import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { gateOf, replacingAnnotation } from '../api/names.ts';
import { type GateState, isGated, judgeHeldPod, pendingPod } from './pending-pod.ts';

const gate = gateOf('sidecar-injector-hello');

interface PodParts {
  readonly owner?: string;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly gates?: readonly string[];
  readonly deleted?: boolean;
  readonly hostNetwork?: boolean;
}

function pod({ owner, annotations, labels, gates = [gate], deleted = false, hostNetwork }: PodParts): KubernetesObject {
  const slash = owner?.lastIndexOf('/') ?? 0;
  const reference = {
    apiVersion: owner?.slice(0, slash),
    kind: owner?.slice(slash + 1),
    uid: 'owner-1',
    controller: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web-1',
      namespace: 'shop',
      uid: 'pod-1',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(annotations && { annotations }),
      ...(labels && { labels }),
      ...(owner !== undefined && { ownerReferences: [reference] }),
      ...(deleted && { deletionTimestamp: '2026-01-01T00:00:01Z' }),
    },
    spec: { containers: [], schedulingGates: gates.map((name) => ({ name })), ...(hostNetwork && { hostNetwork }) },
  } as unknown as KubernetesObject;
}

const inject = 'sidecar.istio.io/inject';
const selecting = { isServed: true, inject, selects: () => true };
const replicaSet = 'apps/v1/ReplicaSet';
const job = 'batch/v1/Job';
const jobLabel = { 'batch.kubernetes.io/controller-uid': 'owner-1' };
const separated = { [replacingAnnotation]: 'owner-1' };

describe('judgeHeldPod', () => {
  const rows: [string, PodParts, GateState, string][] = [
    ['of a ReplicaSet', { owner: replicaSet }, selecting, 'Delete'],
    ['of a StatefulSet', { owner: 'apps/v1/StatefulSet' }, selecting, 'Delete'],
    ['of a DaemonSet', { owner: 'apps/v1/DaemonSet' }, selecting, 'Delete'],
    ['of a Job', { owner: job, labels: jobLabel }, selecting, 'SeparateFromJob'],
    ['of a Job, separated but not released yet', { owner: job, annotations: separated }, selecting, 'Stay'],
    ['of a Job, separated and released', { annotations: separated }, selecting, 'Delete'],
    ['of a Job, separated and released, after the webhook is gone', { annotations: separated }, 'gone', 'Delete'],
    [
      'of a Job whose template has the annotation',
      { owner: job, labels: jobLabel, annotations: separated },
      selecting,
      'SeparateFromJob',
    ],
    [
      'of a ReplicaSet whose template has the annotation',
      { owner: replicaSet, annotations: separated },
      selecting,
      'Delete',
    ],
    ['without a controller', {}, selecting, 'Stay'],
    ['of another controller', { owner: 'kubeflow.org/v1/TFJob' }, selecting, 'Stay'],
    ['of another API group', { owner: 'other.io/v1/ReplicaSet' }, selecting, 'Stay'],
    ['that no webhook selects', { owner: replicaSet }, { ...selecting, selects: () => false }, 'Release'],
    ['whose webhook is gone', { owner: replicaSet }, 'gone', 'Release'],
    ['whose webhook will be restored', { owner: replicaSet }, 'unknown', 'Stay'],
    ['that opts out by annotation', { owner: replicaSet, annotations: { [inject]: 'false' } }, selecting, 'Release'],
    [
      'that opts out by annotation, which a label overrides',
      { owner: replicaSet, annotations: { [inject]: 'false' }, labels: { [inject]: 'true' } },
      selecting,
      'Delete',
    ],
    ['on the host network', { owner: replicaSet, hostNetwork: true }, selecting, 'Release'],
    ['in a namespace that is not known yet', { owner: replicaSet }, { ...selecting, selects: () => undefined }, 'Stay'],
    [
      'whose template has the annotation of an injected pod',
      { owner: replicaSet, annotations: { 'sidecar-injector.io/config': 'hello.01234567' } },
      selecting,
      'Delete',
    ],
  ];
  for (const [what, parts, state, expected] of rows) {
    it(`answers ${expected} for a pod ${what}`, () => {
      const pending = pendingPod(pod(parts));
      assert.ok(isGated(pending));
      assert.equal(judgeHeldPod(pending, state), expected);
    });
  }

  it('passes the labels and the namespace of the pod to the selectors', () => {
    const seen: unknown[] = [];
    const pending = pendingPod(pod({ owner: replicaSet, labels: { app: 'web' } }));
    assert.ok(isGated(pending));
    judgeHeldPod(pending, { isServed: true, inject, selects: (...given) => seen.push(given) > 0 });
    assert.deepEqual(seen, [[{ app: 'web' }, 'shop']]);
  });
});

describe('pendingPod', () => {
  it('keeps only the identity of pods that are not held, or are being deleted', () => {
    const metadata = { name: 'web-1', namespace: 'shop', uid: 'pod-1', resourceVersion: '7' };
    const kept = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      owner: { uid: 'owner-1', namespace: 'shop' },
      held: undefined,
    };
    assert.deepEqual(pendingPod(pod({ owner: replicaSet, gates: ['example.com/quota'], labels: { a: 'b' } })), kept);
    assert.deepEqual(pendingPod(pod({ owner: replicaSet, deleted: true })), { ...kept, owner: undefined });
  });

  it('leaves pods alone that have very many gates or labels', () => {
    const gates = Array.from({ length: 33 }, (_, index) => `hold.sidecar-injector.io/${index}`);
    assert.equal(pendingPod(pod({ gates })).held, undefined);
    assert.notEqual(pendingPod(pod({ gates: gates.slice(1) })).held, undefined);
    const labels = Object.fromEntries(Array.from({ length: 129 }, (_, index) => [`label-${index}`, 'x']));
    assert.equal(pendingPod(pod({ labels })).held, undefined);
  });

  it('keeps all gates and the labels of held pods', () => {
    const { held } = pendingPod(pod({ gates: ['example.com/quota', gate], labels: { app: 'web' } }));
    assert.deepEqual(held?.gates, ['example.com/quota', gate]);
    assert.deepEqual(held.labels, { app: 'web' });
    assert.equal(held.ownerKind, undefined);
    assert.equal(held.since, Date.parse('2026-01-01T00:00:00Z'));
  });

  it('accepts a pod without any optional field', () => {
    const { held, owner } = pendingPod({ apiVersion: 'v1', kind: 'Pod', metadata: {} });
    assert.deepEqual([held, owner], [undefined, undefined]);
  });
});
