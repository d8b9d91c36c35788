import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { tagRolloutPath } from '../../api/names.ts';
import { parseInjectorConfig } from '../../api/parse-injector-config.ts';
import { istioKeys } from '../../api/webhook-keys.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { context, injectorConfig } from '../testdata/operator-fixture.ts';
import { claimantInForce, claimedPods } from './claimant.ts';

function published(spec: Record<string, unknown> = {}): KubernetesObject {
  const config = parseInjectorConfig(injectorConfig('blue', spec));
  return webhookConfiguration({ config, hash: '0a1b2c3d', caBundlePem: 'ca' }, context);
}
const read = (object: KubernetesObject) => claimantInForce(object, (name) => (name === 'blue' ? istioKeys : undefined));

describe('claimantInForce', () => {
  it('reads who takes pods from the webhooks in force', () => {
    const claimant = read(published());
    assert.equal(claimant?.id, 'sidecar-injector-blue');
    assert.equal(claimant.injectorConfig, 'blue');
    assert.equal(claimant.hash, '0a1b2c3d');
    assert.equal(claimant.tag, undefined);
    assert.equal(claimant.isConditional, false);
    assert.deepEqual(
      claimant.claims.map(({ isByNamespace, anchor }) => [isByNamespace, anchor?.side, anchor?.labels]),
      [
        [true, 'namespace', ['istio.io/rev=blue']],
        [false, 'pod', ['istio.io/rev=blue']],
      ],
    );
  });

  it('reads both ends of a rollout, and of one that is only tried the stable one', () => {
    const configuration = { name: 'blue', hash: '0a1b2c3d' };
    const rollout = {
      tag: 'prod',
      stable: configuration,
      canary: { name: 'green', hash: '4e5f6a7b' },
      threshold: '8000000000000000',
    };
    const at = (shadow: boolean) => {
      const text = JSON.stringify(published()).replaceAll(
        '/revisions/blue/0a1b2c3d/inject',
        tagRolloutPath({ ...rollout, shadow }),
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
    assert.equal(read(published({ webhook: { matchConditions } }))?.isConditional, true);
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

describe('claimedPods', () => {
  it('takes everything with empty selectors, and nothing with broken ones', () => {
    const everything = claimedPods({});
    assert.ok(everything.namespace({}) && everything.pod({ any: 'thing' }));
    assert.equal(everything.anchor, undefined);
    const broken = claimedPods({ objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] } });
    assert.equal(broken.pod({ a: 'b' }), false);
  });

  it('knows a label that whatever it takes must have, but not the name of a namespace', () => {
    const anchorOf = (matchExpressions: { key: string; operator: 'In' | 'Exists' | 'NotIn'; values?: string[] }[]) =>
      claimedPods({ namespaceSelector: { matchExpressions } }).anchor?.labels;
    assert.deepEqual(anchorOf([{ key: 'a', operator: 'In', values: ['x', 'y'] }]), ['a=x', 'a=y']);
    assert.deepEqual(anchorOf([{ key: 'kubesphere.io/workspace', operator: 'Exists' }]), ['kubesphere.io/workspace']);
    assert.equal(anchorOf([{ key: 'a', operator: 'NotIn', values: ['x'] }]), undefined);
    assert.equal(anchorOf([{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['shop'] }]), undefined);
  });
});
