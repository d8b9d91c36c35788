import assert from 'node:assert/strict';
import type { JsonObject } from '../patch/json-value.ts';
import { admissionPod, withServerDefaults } from './admission-pod.ts';

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

describe('withServerDefaults', () => {
  const container = (fields: object): object => ({
    name: 'a',
    image: 'a:1',
    imagePullPolicy: 'IfNotPresent',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...fields,
  });
  const probe = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  const fieldRef = { fieldPath: 'metadata.name' };
  const rows: [title: string, before: object, after: object][] = [
    [
      'a request for each limit',
      { resources: { limits: { cpu: '1' } } },
      { resources: { limits: { cpu: '1' }, requests: { cpu: '1' } } },
    ],
    [
      'probes and hooks',
      {
        livenessProbe: { httpGet: { port: 1 } },
        startupProbe: { grpc: { port: 2 } },
        lifecycle: { preStop: { httpGet: { port: 3 } } },
      },
      {
        livenessProbe: { ...probe, httpGet: { path: '/', scheme: 'HTTP', port: 1 } },
        startupProbe: { ...probe, grpc: { port: 2, service: '' } },
        lifecycle: { preStop: { httpGet: { path: '/', scheme: 'HTTP', port: 3 } } },
      },
    ],
    [
      'the version of a field reference',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { fieldRef } },
          { name: 'C', valueFrom: { secretKeyRef: {} } },
        ],
      },
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { fieldRef: { apiVersion: 'v1', ...fieldRef } } },
          { name: 'C', valueFrom: { secretKeyRef: {} } },
        ],
      },
    ],
  ];
  for (const [title, before, after] of rows) {
    it(`sets ${title}`, () => {
      const { spec } = withServerDefaults({ spec: { containers: [{ name: 'a', image: 'a:1', ...before }] } });
      assert.deepEqual((spec as { containers: unknown }).containers, [container(after)]);
    });
  }

  it('sets defaults of volumes', () => {
    const items = [{ path: 'p', fieldRef }];
    const volumes = [
      { name: 'none' },
      { name: 'host', hostPath: { path: '/' } },
      { name: 'secret', secret: { secretName: 's' } },
      { name: 'fields', downwardAPI: { items } },
      { name: 'bare', downwardAPI: {} },
      { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
      {
        name: 'all',
        projected: { sources: [{ serviceAccountToken: { path: 't' } }, { downwardAPI: { items } }, { secret: {} }] },
      },
    ];
    const filled = [{ path: 'p', fieldRef: { apiVersion: 'v1', ...fieldRef } }];
    assert.deepEqual((withServerDefaults({ spec: { volumes } }).spec as { volumes: unknown }).volumes, [
      { name: 'none', emptyDir: {} },
      { name: 'host', hostPath: { type: '', path: '/' } },
      { name: 'secret', secret: { defaultMode: 420, secretName: 's' } },
      { name: 'fields', downwardAPI: { defaultMode: 420, items: filled } },
      { name: 'bare', downwardAPI: { defaultMode: 420 } },
      { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
      {
        name: 'all',
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3600, path: 't' } },
            { downwardAPI: { items: filled } },
            { secret: {} },
          ],
        },
      },
    ]);
  });
});
