import assert from 'node:assert/strict';
import type { LabelSelector } from '../../api/kubernetes/kubernetes.ts';
import { podPlaces } from './pod-places.ts';
import { webhookProblems } from './webhook-problems.ts';

const names = { injected: 'run', bare: 'run-bare' };
const expression = (key: string, operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', ...values: string[]) => ({
  key,
  operator,
  ...(values.length > 0 && { values }),
});
const not = (...keys: string[]): LabelSelector => ({
  matchExpressions: keys.map((key) => expression(key, 'DoesNotExist')),
});

describe('podPlaces', () => {
  it("finds labels for Istio's four webhooks, and labels that none of them selects", () => {
    const webhooks = [
      { name: 'rev.namespace', namespaceSelector: { matchLabels: { 'istio.io/rev': 'a' }, ...not('istio-injection') } },
      {
        name: 'rev.object',
        namespaceSelector: not('istio.io/rev', 'istio-injection'),
        objectSelector: { matchLabels: { 'istio.io/rev': 'a' } },
      },
    ];
    assert.deepEqual(podPlaces(webhooks, names), {
      webhook: webhooks[0],
      injected: { namespace: { 'istio.io/rev': 'a' }, pod: {} },
      bare: { namespace: {}, pod: {} },
    });
  });

  it('finds labels that are not selected where an unlabelled namespace is selected', () => {
    const namespaceSelector = { matchExpressions: [expression('injection', 'NotIn', 'disabled')] };
    assert.deepEqual(podPlaces([{ name: 'all', namespaceSelector }], names), {
      webhook: { name: 'all', namespaceSelector },
      injected: { namespace: {}, pod: {} },
      bare: { namespace: { injection: 'disabled' }, pod: {} },
    });
  });

  it('uses labels of pods where the namespace does not matter', () => {
    const objectSelector = { matchLabels: { sidecar: 'yes' } };
    const places = podPlaces([{ name: 'pods', objectSelector }], names);
    assert.ok(typeof places !== 'string');
    assert.deepEqual([places.injected.pod, places.bare.pod], [{ sidecar: 'yes' }, {}]);
  });

  it('says what is impossible', () => {
    const byName = { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } };
    assert.equal(podPlaces([{ name: 'one', namespaceSelector: byName }], names), 'selects no pod of a new namespace');
    assert.equal(podPlaces([{ name: 'all' }], names), 'selects every pod, so there is nothing to compare with');
  });
});

describe('webhookProblems', () => {
  const safe = { name: 'one', sideEffects: 'None', namespaceSelector: { matchLabels: { a: 'b' } } };
  const rows: [name: string, webhook: object, problem: RegExp | undefined][] = [
    ['a webhook of labelled namespaces', {}, undefined],
    ['every namespace', { namespaceSelector: {} }, /^one: selects pods of kube-system with failurePolicy Fail/],
    ['every namespace with Ignore', { namespaceSelector: {}, failurePolicy: 'Ignore' }, undefined],
    ['a long deadline', { timeoutSeconds: 30 }, /^one: timeoutSeconds is 30/],
    ['side effects', { sideEffects: 'Some' }, /^one: sideEffects is Some/],
    ['unknown side effects', { sideEffects: undefined }, /^one: sideEffects is absent/],
  ];
  for (const [name, webhook, problem] of rows) {
    it(`${problem === undefined ? 'accepts' : 'finds'} ${name}`, () => {
      const found = webhookProblems([{ ...safe, ...webhook }]);
      assert.equal(found.length, problem === undefined ? 0 : 1);
      if (problem !== undefined) assert.match(found[0] ?? '', problem);
    });
  }
});
