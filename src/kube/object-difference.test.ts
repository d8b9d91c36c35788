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

/** The desired webhook with other metadata. */
const live = (metadata: Record<string, unknown>): KubernetesObject => webhook({}, metadata);

function service(spec: Record<string, unknown>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec };
}

function owned(fieldsV1: unknown, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return { managedFields: [{ manager, operation: 'Apply', fieldsV1, ...extra }] };
}

describe('objectDifference', () => {
  const owner = { apiVersion: 'v1', kind: 'X', name: 'o', uid: 'u1' };
  const owners = [{ ...owner, uid: 'u2' }, owner];
  const ports = [{ name: 'https', port: 443 }];
  const filled = service({ type: 'ClusterIP', clusterIP: '10.0.0.1', ports: [{ ...ports[0], nodePort: 1 }] });
  const selector = { a: 'b' };
  const widened = { matchLabels: { x: 'y', z: '1' } };
  const others = { ...live({ labels: { ours: '1', theirs: '2' }, annotations: { a: 'b' } }), status: {} };
  const annotated = (a: string) => live({ annotations: { a } });
  const withAnother = { ...webhook(), webhooks: [...(webhook().webhooks as object[]), {}] };
  const wider = service({ selector: { ...selector, c: 'd' } });
  const ownLabels = owned({ 'f:metadata': { 'f:labels': { '.': {}, 'f:ours': {}, 'f:old': {} } } });
  const labelled = live({ labels: { ours: '1', old: '2' }, ...ownLabels });
  const ownValues = live(owned({ 'f:metadata': { 'f:finalizers': { 'v:"a"': {}, 'v:"b"': {} } } }));
  const ownItem = live(owned({ 'f:webhooks': { '.': {}, 'k:{"name":"a.b.c"}': { '.': {}, 'f:name': {} } } }));
  const oldItem = live(owned({ 'f:webhooks': { 'k:{"name":"old"}': {} } }));
  const cases: [what: string, desired: KubernetesObject, live: KubernetesObject, expected: string | undefined][] = [
    ['an equal object', webhook(), webhook(), undefined],
    ['labels, annotations and a status from other clients', webhook(), others, undefined],
    ['a label that is missing', webhook(), live({ labels: {} }), 'metadata.labels.ours'],
    ['an annotation that differs', annotated('1'), annotated('2'), 'metadata.annotations.a'],
    ['no labels at all', webhook(), live({ labels: undefined }), 'metadata.labels.ours'],
    ['a selector with an added label', webhook(), webhook({ namespaceSelector: widened }), 'webhooks'],
    ['an added field', webhook(), webhook({ failurePolicy: 'Ignore' }), 'webhooks'],
    ['an added webhook', webhook(), withAnother, 'webhooks'],
    ['a missing owner', live({ ownerReferences: [owner] }), webhook(), 'metadata.ownerReferences'],
    ['an additional owner', live({ ownerReferences: [owner] }), live({ ownerReferences: owners }), undefined],
    ['fields that the API server fills in', service({ type: 'ClusterIP', ports }), filled, undefined],
    ['a different port', service({ ports }), service({ ports: [{ name: 'https', port: 444 }] }), 'spec.ports[0].port'],
    ['an additional port', service({ ports }), service({ ports: [...ports, { port: 1 }] }), 'spec.ports'],
    ['a missing list of ports', service({ ports }), service({}), 'spec.ports'],
    ['a Service selector with another label', service({ selector }), wider, 'spec.selector'],
    ['an equal Service selector', service({ selector }), service({ selector }), undefined],
    ['a missing spec', service({ type: 'ClusterIP' }), { ...service({}), spec: undefined }, 'spec'],
    ['a label that we own and no longer want', webhook(), labelled, 'metadata.labels.old'],
    ['a list item that we own and want', webhook(), ownItem, undefined],
    ['a list item that we own and no longer want', webhook(), oldItem, 'webhooks.[{"name":"old"}]'],
    ['a set value that we own and no longer want', live({ finalizers: ['a'] }), ownValues, 'metadata.finalizers.["b"]'],
    ['a status field that we own', webhook(), live(owned({ 'f:status': {} }, { subresource: 'status' })), undefined],
    ['a field that another manager owns', webhook(), live(owned({ 'f:x': {} }, { manager: 'other' })), undefined],
    ['a field that we set by an update', webhook(), live(owned({ 'f:x': {} }, { operation: 'Update' })), undefined],
  ];
  for (const [what, desired, live, expected] of cases) {
    it(`returns ${expected ?? 'undefined'} for ${what}`, () => {
      assert.equal(objectDifference(desired, live, manager), expected);
    });
  }
});
