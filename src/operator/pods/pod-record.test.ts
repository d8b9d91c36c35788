import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { arrivedPod, podRecord } from './pod-record.ts';

const inject = 'sidecar.istio.io/inject';

function pod(metadata: Record<string, unknown> = {}, spec: Record<string, unknown> = {}): KubernetesObject {
  const own = { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...own, ...metadata }, spec };
}

describe('podRecord', () => {
  it('keeps only the names and the configuration that injected the pod', () => {
    const annotations = { 'sidecar-injector.io/config': 'blue.0a1b2c3d', note: 'x'.repeat(100_000) };
    const labels = { app: 'web' };
    const spec = { containers: [{ name: 'app', image: 'app' }] };
    assert.deepEqual(podRecord(pod({ annotations, labels, managedFields: [{}] }, spec)), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7' },
      injectedBy: 'blue.0a1b2c3d',
    });
  });

  it('has a bounded size for any pod', () => {
    const long = 'x'.repeat(300_000);
    const record = podRecord(pod({ name: 'n'.repeat(253), annotations: { 'sidecar-injector.io/config': long } }));
    assert.ok(JSON.stringify(record).length < 1100, String(JSON.stringify(record).length));
  });

  it('accepts a pod without metadata', () => {
    const { metadata } = podRecord({ apiVersion: 'v1', kind: 'Pod', metadata: {} });
    assert.deepEqual(metadata, { name: '', namespace: '', uid: '', resourceVersion: '' });
  });
});

describe('arrivedPod', () => {
  const arrive = (object: KubernetesObject) => arrivedPod(object, podRecord(object), [inject]);

  it('ignores held pods, which will be replaced', () => {
    const schedulingGates = [{ name: 'hold.sidecar-injector.io/sidecar-injector-blue' }];
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { schedulingGates },
    };
    assert.equal(arrive(pod), undefined);
    assert.notEqual(arrive({ ...pod, spec: { schedulingGates: [{ name: 'example.com/quota' }] } }), undefined);
  });

  it('keeps the fields on which the decision depends', () => {
    const metadata = { labels: { app: 'web' }, annotations: { [inject]: 'false'.padEnd(1000, '!'), other: 'x' } };
    const arrived = arrive(pod(metadata, { hostNetwork: true }));
    const annotations = { [inject]: 'false'.padEnd(32, '!') };
    const expected = { maker: 'u1', namespace: 'shop', hostNetwork: true, labels: { app: 'web' }, annotations };
    assert.deepEqual({ ...arrived, record: undefined }, { record: undefined, ...expected });
  });

  it('names the controller of a pod as its maker, or the pod itself if it has no controller', () => {
    const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r1' };
    const ownerReferences = [
      { ...reference, uid: 'other' },
      { ...reference, controller: true },
    ];
    assert.equal(arrive(pod({ ownerReferences }))?.maker, 'r1');
    assert.equal(arrive(pod({ ownerReferences: [{ ...reference, uid: 'other' }] }))?.maker, 'u1');
  });

  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`l${index}`, '']));
  const ignored: [name: string, metadata: Record<string, unknown>][] = [
    ['the mirror of a static pod', { annotations: { 'kubernetes.io/config.mirror': 'x' } }],
    ['a pod that is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    ['a pod with more than 64 labels', { labels: many }],
  ];
  for (const [name, metadata] of ignored) {
    it(`ignores ${name}`, () => {
      assert.equal(arrive(pod(metadata)), undefined);
    });
  }
});
