import assert from 'node:assert/strict';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { admissionPod } from './admission-pod.ts';

function admitted(spec: JsonObject, metadata: JsonObject = {}): { metadata: JsonObject; spec: JsonObject } {
  return admissionPod({ metadata, spec }, 'shop') as { metadata: JsonObject; spec: JsonObject };
}

function container(spec: JsonObject): JsonObject {
  const [first] = admitted(spec).spec.containers as JsonObject[];
  assert.ok(first);
  return first;
}

describe('admissionPod', () => {
  it('sets the namespace and removes fields that only stored pods have', () => {
    const written = { name: 'web', labels: { a: 'b' } };
    const stored = { ...written, uid: '1', resourceVersion: '2', creationTimestamp: 'x', managedFields: [] };
    assert.deepEqual(admitted({}, stored).metadata, { ...written, namespace: 'shop' });
  });

  it('sets absent fields to defaults and keeps present fields', () => {
    const { spec } = admitted({ restartPolicy: 'Never', containers: [] });
    assert.deepEqual(
      [spec.restartPolicy, spec.dnsPolicy, spec.terminationGracePeriodSeconds, spec.serviceAccountName],
      ['Never', 'ClusterFirst', 30, 'default'],
    );
  });

  const images: [image: string, policy: string][] = [
    ['app', 'Always'],
    ['app:latest', 'Always'],
    ['app:1', 'IfNotPresent'],
    ['registry:5000/app', 'Always'],
    ['registry:5000/app:1', 'IfNotPresent'],
    ['app@sha256:00', 'IfNotPresent'],
  ];
  for (const [image, policy] of images) {
    it(`sets imagePullPolicy ${policy} for the image ${image}`, () => {
      assert.equal(container({ containers: [{ name: 'app', image }] }).imagePullPolicy, policy);
    });
  }

  it('mounts the ServiceAccount token unless the pod disables it, has it already or is a mirror pod', () => {
    const volumes = (spec: JsonObject, metadata?: JsonObject): number =>
      ((admitted(spec, metadata).spec.volumes ?? []) as unknown[]).length;
    assert.equal(volumes({}), 1);
    assert.equal(volumes({ automountServiceAccountToken: false }), 0);
    assert.equal(volumes({ volumes: [{ name: 'kube-api-access-abcde' }] }), 1);
    assert.equal(volumes({}, { annotations: { 'kubernetes.io/config.mirror': 'x' } }), 0);
    assert.equal((container({ containers: [{ name: 'app' }] }).volumeMounts as unknown[]).length, 1);
  });

  it('sets hostPort if the pod uses the host network', () => {
    const ports = [{ containerPort: 80 }];
    assert.deepEqual(container({ hostNetwork: true, containers: [{ ports }] }).ports, [
      { protocol: 'TCP', hostPort: 80, containerPort: 80 },
    ]);
    assert.deepEqual(container({ containers: [{ ports }] }).ports, [{ protocol: 'TCP', containerPort: 80 }]);
  });
});
