import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { formatRoute } from '../routing/route.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { webhookSelectors } from './webhook-selectors.ts';
import { compileSelectors, readSelectingWebhook } from './selecting-webhook.ts';

/** The webhooks of an InjectorConfig as the operator writes them, as far as selection goes. */
function published(matchConditions: readonly object[] = []): KubernetesObject {
  const path = formatRoute({ stable: { injectorConfig: 'blue', hash: '0a1b2c3d' } });
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'sidecar-injector-blue' },
    webhooks: webhookSelectors(injectorConfig('blue'), []).map(({ name, ...selectors }) => ({
      name: `${name}.sidecar-injector.io`,
      clientConfig: { service: { path } },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      matchConditions: [{ name: matchConditionNames.hostNetwork, expression: 'true' }, ...matchConditions],
      ...selectors,
    })),
  };
}
const read = (object: KubernetesObject) =>
  readSelectingWebhook(object, (name) => (name === 'blue' ? istioKeys : undefined));

describe('readSelectingWebhook', () => {
  it('reads who takes pods from the webhooks in force', () => {
    const selectingWebhook = read(published());
    assert.equal(selectingWebhook?.id, 'sidecar-injector-blue');
    assert.equal(selectingWebhook.injectorConfig, 'blue');
    assert.equal(selectingWebhook.hash, '0a1b2c3d');
    assert.equal(selectingWebhook.tag, undefined);
    assert.equal(selectingWebhook.isConditional, false);
    assert.deepEqual(
      selectingWebhook.selectors.map(({ isByNamespace, anchor }) => [isByNamespace, anchor?.side, anchor?.labels]),
      [
        [true, 'namespace', ['istio.io/rev=blue']],
        [false, 'pod', ['istio.io/rev=blue']],
      ],
    );
  });

  it('reads both ends of a rollout, and of one that is only tried the stable one', () => {
    const configuration = { injectorConfig: 'blue', hash: '0a1b2c3d' };
    const rollout = {
      tag: 'prod',
      stable: configuration,
      canary: { injectorConfig: 'green', hash: '4e5f6a7b' },
      threshold: '8000000000000000',
    };
    const at = (shadow: boolean) => {
      const text = JSON.stringify(published()).replaceAll(
        '/revisions/blue/0a1b2c3d/inject',
        formatRoute({ ...rollout, shadow }),
      );
      return read(JSON.parse(text) as KubernetesObject);
    };
    assert.equal(at(false)?.injectorConfig, 'blue');
    assert.deepEqual(at(false)?.canary, { injectorConfig: 'green', hash: '4e5f6a7b', threshold: '8000000000000000' });
    assert.equal(at(true)?.hash, '0a1b2c3d');
    assert.equal(at(true)?.canary, undefined);
  });

  it('sees conditions of somebody’s own', () => {
    const matchConditions = [{ name: 'mine', expression: 'true' }];
    assert.equal(read(published(matchConditions))?.isConditional, true);
  });

  const nobody: [name: string, object: KubernetesObject][] = [
    ['an owner, which has no webhooks', { ...published(), webhooks: [] }],
    [
      'webhooks of an InjectorConfig that is gone',
      JSON.parse(JSON.stringify(published()).replaceAll('blue', 'green')) as KubernetesObject,
    ],
    [
      'webhooks that somebody has bent',
      { ...published(), webhooks: [...(published().webhooks as object[]), { rules: [{ resources: ['pods'] }] }] },
    ],
    [
      'the twin that tries a path out',
      JSON.parse(JSON.stringify(published()).replaceAll('"pods"', '"configmaps"')) as KubernetesObject,
    ],
  ];
  for (const [name, object] of nobody) {
    it(`finds nobody in ${name}`, () => {
      assert.equal(read(object), undefined);
    });
  }
});

describe('compileSelectors', () => {
  it('takes everything with empty selectors, and nothing with broken ones', () => {
    const everything = compileSelectors({});
    assert.ok(everything.namespace({}) && everything.pod({ any: 'thing' }));
    assert.equal(everything.anchor, undefined);
    const broken = compileSelectors({
      objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] },
    });
    assert.equal(broken.pod({ a: 'b' }), false);
  });

  it('knows a label that whatever it takes must have, but not the name of a namespace', () => {
    const anchorOf = (matchExpressions: { key: string; operator: 'In' | 'Exists' | 'NotIn'; values?: string[] }[]) =>
      compileSelectors({ namespaceSelector: { matchExpressions } }).anchor?.labels;
    assert.deepEqual(anchorOf([{ key: 'a', operator: 'In', values: ['x', 'y'] }]), ['a=x', 'a=y']);
    assert.deepEqual(anchorOf([{ key: 'kubesphere.io/workspace', operator: 'Exists' }]), ['kubesphere.io/workspace']);
    assert.equal(anchorOf([{ key: 'a', operator: 'NotIn', values: ['x'] }]), undefined);
    assert.equal(anchorOf([{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['shop'] }]), undefined);
  });
});
