import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { objectDifference } from './object-difference.ts';

const manager = 'sidecar-injector';

function webhook(changes: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): KubernetesObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'w', labels: { ours: '1' }, ...metadata },
    webhooks: [{ name: 'a.b.c', namespaceSelector: { matchLabels: { x: 'y' } }, ...changes }],
  };
}

function service(spec: Record<string, unknown>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec };
}

function owned(fieldsV1: unknown, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return { managedFields: [{ manager, operation: 'Apply', fieldsV1, ...extra }] };
}

describe('objectDifference', () => {
  const owner = { apiVersion: 'v1', kind: 'X', name: 'o', uid: 'u1' };
  const wantedPorts = [{ name: 'https', port: 443 }];
  const cases: [what: string, desired: KubernetesObject, live: KubernetesObject, expected: string | undefined][] = [
    ['the same', webhook(), webhook(), undefined],
    [
      "others' labels, annotations and status",
      webhook(),
      { ...webhook({}, { labels: { ours: '1', theirs: '2' }, annotations: { a: 'b' } }), status: {} },
      undefined,
    ],
    ['a label that is missing', webhook(), webhook({}, { labels: {} }), 'metadata.labels.ours'],
    [
      'an annotation that differs',
      webhook({}, { annotations: { a: '1' } }),
      webhook({}, { annotations: { a: '2' } }),
      'metadata.annotations.a',
    ],
    ['no labels at all', webhook(), webhook({}, { labels: undefined }), 'metadata.labels.ours'],
    [
      'a selector that somebody added to',
      webhook(),
      webhook({ namespaceSelector: { matchLabels: { x: 'y', z: '1' } } }),
      'webhooks',
    ],
    ['a field that somebody added', webhook(), webhook({ failurePolicy: 'Ignore' }), 'webhooks'],
    [
      'a webhook that somebody added',
      webhook(),
      { ...webhook(), webhooks: [...(webhook().webhooks as object[]), {}] },
      'webhooks',
    ],
    ['an owner that is missing', webhook({}, { ownerReferences: [owner] }), webhook(), 'metadata.ownerReferences'],
    [
      'an owner beside ours',
      webhook({}, { ownerReferences: [owner] }),
      webhook({}, { ownerReferences: [{ ...owner, uid: 'u2' }, owner] }),
      undefined,
    ],
    [
      'what the API server fills in',
      service({ type: 'ClusterIP', ports: wantedPorts }),
      service({ type: 'ClusterIP', clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443, nodePort: 1 }] }),
      undefined,
    ],
    [
      'another port',
      service({ ports: wantedPorts }),
      service({ ports: [{ name: 'https', port: 444 }] }),
      'spec.ports[0].port',
    ],
    ['one port more', service({ ports: wantedPorts }), service({ ports: [...wantedPorts, { port: 1 }] }), 'spec.ports'],
    ['no ports', service({ ports: wantedPorts }), service({}), 'spec.ports'],
    [
      'a selector of a Service that somebody added to',
      service({ selector: { a: 'b' } }),
      service({ selector: { a: 'b', c: 'd' } }),
      'spec.selector',
    ],
    ['the selector', service({ selector: { a: 'b' } }), service({ selector: { a: 'b' } }), undefined],
    ['no spec', service({ type: 'ClusterIP' }), { ...service({}), spec: undefined }, 'spec'],
    [
      'a label that we own and want no more',
      webhook(),
      webhook(
        {},
        {
          labels: { ours: '1', old: '2' },
          ...owned({ 'f:metadata': { 'f:labels': { '.': {}, 'f:ours': {}, 'f:old': {} } } }),
        },
      ),
      'metadata.labels.old',
    ],
    [
      'what we own and want',
      webhook(),
      webhook({}, owned({ 'f:webhooks': { '.': {}, 'k:{"name":"a.b.c"}': { '.': {}, 'f:name': {} } } })),
      undefined,
    ],
    [
      'a list item that we own and want no more',
      webhook(),
      webhook({}, owned({ 'f:webhooks': { 'k:{"name":"old"}': {} } })),
      'webhooks.[{"name":"old"}]',
    ],
    [
      'a value of a set that we own and want no more',
      webhook({}, { finalizers: ['a'] }),
      webhook({}, owned({ 'f:metadata': { 'f:finalizers': { 'v:"a"': {}, 'v:"b"': {} } } })),
      'metadata.finalizers.["b"]',
    ],
    [
      'what our status manager owns',
      webhook(),
      webhook({}, owned({ 'f:status': {} }, { subresource: 'status' })),
      undefined,
    ],
    ['what others own', webhook(), webhook({}, owned({ 'f:x': {} }, { manager: 'other' })), undefined],
    ['what an update of ours owns', webhook(), webhook({}, owned({ 'f:x': {} }, { operation: 'Update' })), undefined],
  ];
  for (const [what, desired, live, expected] of cases) {
    it(`${what}: ${expected ?? 'nothing to write'}`, () => {
      assert.equal(objectDifference(desired, live, manager), expected);
    });
  }
});
