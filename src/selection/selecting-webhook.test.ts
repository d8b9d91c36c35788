import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { formatRoute } from '../routing/route.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { webhookSelectors } from './webhook-selectors.ts';
import { compileSelectors, readSelectingWebhook, webhooksSelecting } from './selecting-webhook.ts';

/** The webhooks of an InjectorConfig as the operator writes them, without irrelevant fields. */
function published(matchConditions: readonly object[] = []): KubernetesObject {
  const path = formatRoute({ stable: { injectorConfig: 'blue', hash: '0a1b2c3d' } });
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'sidecar-injector-blue' },
    webhooks: webhookSelectors({ config: injectorConfig('blue') }, ['kube-system']).map(({ name, ...selectors }) => ({
      name: `${name}.sidecar-injector.io`,
      clientConfig: { service: { path } },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      matchConditions: [{ name: matchConditionNames.hostNetwork, expression: 'true' }, ...matchConditions],
      ...selectors,
    })),
  };
}
const changed = (from: string, to: string) =>
  JSON.parse(JSON.stringify(published()).replaceAll(from, to)) as KubernetesObject;
const read = (object: KubernetesObject) =>
  readSelectingWebhook(object, (name) => (name === 'blue' ? istioKeys : undefined));

describe('readSelectingWebhook', () => {
  it('reads a live webhook configuration', () => {
    const selectingWebhook = read(published());
    assert.ok(selectingWebhook);
    const { id, injectorConfig: name, hash, tag, isConditional, selectors } = selectingWebhook;
    assert.deepEqual([id, name, hash, tag], ['sidecar-injector-blue', 'blue', '0a1b2c3d', undefined]);
    assert.equal(isConditional, false);
    assert.deepEqual(
      selectors.map(({ isByNamespace }) => isByNamespace),
      [true, false],
    );
  });

  it('reads stable and canary of a rollout, and only stable in a shadow step', () => {
    const stable = { injectorConfig: 'blue', hash: '0a1b2c3d' };
    const canary = { injectorConfig: 'green', hash: '4e5f6a7b' };
    const threshold = '8000000000000000';
    const at = (shadow: boolean) => {
      const path = formatRoute({ tag: 'prod', stable, canary, threshold, shadow });
      return read(changed('/revisions/blue/0a1b2c3d/inject', path));
    };
    assert.deepEqual([at(false)?.injectorConfig, at(false)?.canary], ['blue', { ...canary, threshold }]);
    assert.deepEqual([at(true)?.hash, at(true)?.canary], ['0a1b2c3d', undefined]);
  });

  it('reports matchConditions that a user has added', () => {
    const matchConditions = [{ name: 'mine', expression: 'true' }];
    assert.equal(read(published(matchConditions))?.isConditional, true);
  });

  const edited = { rules: [{ resources: ['pods'] }] };
  const ignored: [name: string, object: KubernetesObject][] = [
    ['an object that has no webhooks', { ...published(), webhooks: [] }],
    ['the webhooks of a deleted InjectorConfig', changed('blue', 'green')],
    ['webhooks with different rules', { ...published(), webhooks: [...(published().webhooks as object[]), edited] }],
    ['a probe webhook', changed('"pods"', '"configmaps"')],
  ];
  for (const [name, object] of ignored) {
    it(`ignores ${name}`, () => {
      assert.equal(read(object), undefined);
    });
  }
});

describe('compileSelectors', () => {
  it('selects everything with empty selectors, and nothing with invalid ones', () => {
    const everything = compileSelectors({});
    assert.ok(everything.namespace({}) && everything.pod({ any: 'thing' }));
    assert.equal(everything.isByNamespace, false);
    const objectSelector = { matchExpressions: [{ key: 'a', operator: 'In' as const, values: [] }] };
    assert.equal(compileSelectors({ objectSelector }).pod({ a: 'b' }), false);
  });

  it('reports whether a namespace must have a label, except its name', () => {
    const isByNamespace = (
      ...matchExpressions: { key: string; operator: 'In' | 'Exists' | 'NotIn'; values?: string[] }[]
    ) => compileSelectors({ namespaceSelector: { matchExpressions } }).isByNamespace;
    assert.equal(isByNamespace({ key: 'a', operator: 'In', values: ['x', 'y'] }), true);
    assert.equal(isByNamespace({ key: 'kubesphere.io/workspace', operator: 'Exists' }), true);
    assert.equal(isByNamespace({ key: 'a', operator: 'NotIn', values: ['x'] }), false);
    assert.equal(isByNamespace({ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['shop'] }), false);
    assert.equal(compileSelectors({ namespaceSelector: { matchLabels: { a: 'x' } } }).isByNamespace, true);
  });
});

describe('webhooksSelecting', () => {
  it('returns the webhooks with a pair of selectors that match the pod and its namespace', () => {
    const webhook = read(published());
    assert.ok(webhook);
    const revision = { 'istio.io/rev': 'blue' };
    const isSelected = (namespace: object, pod: object) =>
      webhooksSelecting([webhook], { ...namespace }, { ...pod }).length > 0;
    assert.deepEqual([isSelected(revision, {}), isSelected({}, revision), isSelected({}, {})], [true, true, false]);
    assert.equal(isSelected({ 'istio.io/rev': 'green' }, revision), false);
  });
});
