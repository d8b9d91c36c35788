import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { workloadOf } from '../../inject/pod/workload.ts';
import { readPod } from '../../inject/pod/read-pod.ts';
import { plainSubject, subjectOf } from './subject.ts';

const spec = { containers: [{ name: 'app', image: 'app' }] };
const template = { metadata: { labels: { app: 'web' } }, spec };

function made(apiVersion: string, kind: string, more: Record<string, unknown> = {}): KubernetesObject {
  return { apiVersion, kind, metadata: { name: 'web', uid: '7', ...(more.metadata as object) }, spec: { template } };
}

/** The expected name, added labels and workload of the pod of each object. */
const table: [object: KubernetesObject, name: string, labels: string[], workload: string][] = [
  [made('apps/v1', 'Deployment'), 'web-0000000000-', ['pod-template-hash'], 'Deployment/web'],
  [made('apps/v1', 'ReplicaSet'), 'web-', [], 'ReplicaSet/web'],
  [
    made('apps/v1', 'StatefulSet'),
    'web-0',
    ['apps.kubernetes.io/pod-index', 'controller-revision-hash', 'statefulset.kubernetes.io/pod-name'],
    'StatefulSet/web',
  ],
  [made('apps/v1', 'DaemonSet'), 'web-', ['controller-revision-hash', 'pod-template-generation'], 'DaemonSet/web'],
  [made('v1', 'ReplicationController'), 'web-', [], 'ReplicationController/web'],
  [
    made('batch/v1', 'Job'),
    'web-',
    ['batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name', 'controller-uid', 'job-name'],
    'Job/web',
  ],
];

describe('subjectOf', () => {
  it('uses the given namespace for a manifest with an empty `namespace:`', () => {
    const metadata = { name: 'web', namespace: null as unknown as string };
    assert.equal(subjectOf({ apiVersion: 'v1', kind: 'Pod', metadata, spec: {} }, 'shop')?.namespace, 'shop');
  });

  for (const [object, name, labels, workload] of table) {
    it(`for a ${object.kind}, returns a pod ${name} of ${workload}`, () => {
      const subject = subjectOf(object, 'shop');
      assert.ok(subject);
      const metadata = subject.pod.metadata as KubernetesObject['metadata'];
      assert.equal(metadata.name ?? metadata.generateName, name);
      assert.deepEqual(Object.keys(metadata.labels ?? {}).sort(), ['app', ...labels].sort());
      assert.equal(metadata.ownerReferences?.[0]?.uid, '7');
      const found = workloadOf(readPod(subject.pod, 'shop'));
      assert.equal(`${found.kind}/${found.name}`, workload);
      assert.deepEqual(subject.template, { kind: object.kind, name: 'web' });
    });
  }

  const kind = { apiVersion: 'v1', kind: 'Pod' };
  const odd: [title: string, object: KubernetesObject, name: string, namespace: string][] = [
    ['a pod', { ...kind, metadata: { name: 'web' }, spec }, 'web', 'shop'],
    ['a pod in another namespace', { ...kind, metadata: { name: 'web', namespace: 'other' }, spec }, 'web', 'other'],
    ['a pod whose name is generated', { ...kind, metadata: { generateName: 'web-' } }, 'web-', 'shop'],
    ['a pod without a name', { ...kind, metadata: {} }, '', 'shop'],
    ['a Deployment without a template', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} }, '', 'shop'],
  ];
  for (const [title, object, name, namespace] of odd) {
    it(`returns the name ${JSON.stringify(name)} in ${namespace} for ${title}`, () => {
      const subject = subjectOf(object, 'shop');
      assert.deepEqual([subject?.name, subject?.namespace], [name, namespace]);
      assert.equal((subject?.pod.metadata as KubernetesObject['metadata']).namespace, namespace);
      assert.deepEqual(subject?.template, object.kind === 'Pod' ? undefined : { kind: object.kind, name: '' });
    });
  }

  it('names the controller of an object as the owner of the template', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'above', uid: '1', controller: true };
    const owned = made('apps/v1', 'ReplicaSet', { metadata: { ownerReferences: [owner] } });
    assert.deepEqual(subjectOf(owned, 'shop')?.template, { kind: 'Deployment', name: 'above' });
    const adopted = made('apps/v1', 'ReplicaSet', { metadata: { ownerReferences: [{ ...owner, controller: false }] } });
    assert.deepEqual(subjectOf(adopted, 'shop')?.template, { kind: 'ReplicaSet', name: 'web' });
  });

  it('returns undefined for an object without pods', () => {
    assert.equal(subjectOf({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } }, 'shop'), undefined);
  });

  it('returns a pod without labels for a namespace', () => {
    const { kind, namespace, pod } = plainSubject('shop');
    assert.deepEqual([kind, namespace], ['Namespace', 'shop']);
    assert.deepEqual(Object.keys(pod.metadata as object).sort(), ['name', 'namespace']);
  });
});
