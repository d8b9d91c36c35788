import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { LabelSelectorRequirement } from '../../api/kubernetes/kubernetes.ts';
import { selectorsOf } from '../../selection/webhook-selectors.ts';
import { callOf, type Incumbent, incumbentsIn, isDeactivated, selectionOf } from './incumbent-webhooks.ts';

const suffix = '.sidecar-injector.istio.io';

/** Returns an incumbent with the selectors of Istio's chart, and more requirements. */
function incumbent(more: LabelSelectorRequirement[] = [], enableNamespacesByDefault = false): Incumbent {
  const selectors = selectorsOf({ revision: 'default', keys: istioKeys, enableNamespacesByDefault }, []);
  const webhooks = selectors.map(({ name, namespaceSelector, objectSelector }) => ({
    name: `${name}${suffix}`,
    namespaceSelector: { matchExpressions: [...(namespaceSelector.matchExpressions ?? []), ...more] },
    objectSelector,
  }));
  return { name: 'istio-sidecar-injector', revision: 'default', webhooks };
}

describe('selectionOf', () => {
  it('takes excluded namespaces and the keys of AKS, and leaves system namespaces out', () => {
    const names = { key: 'kubernetes.io/metadata.name', operator: 'NotIn' as const, values: ['shop', 'kube-system'] };
    const found = selectionOf(incumbent([names, { key: 'control-plane', operator: 'DoesNotExist' }]));
    const expected = { excludedNamespaces: ['shop'], enableNamespacesByDefault: false, addedByAks: ['control-plane'] };
    assert.deepEqual(found, expected);
  });

  it('recognises the injection of all namespaces', () => {
    const found = selectionOf(incumbent([], true));
    assert.ok(typeof found === 'object' && found.enableNamespacesByDefault);
  });

  const [first, ...others] = incumbent().webhooks;
  const refused: [title: string, incumbent: Incumbent, message: RegExp][] = [
    ['another requirement', incumbent([{ key: 'team', operator: 'Exists' }]), /also has team Exists/],
    ['a missing webhook', { ...incumbent(), webhooks: others }, /has no webhook/],
    [
      'one more webhook',
      { ...incumbent(), webhooks: [first!, ...others, { ...first!, name: `other${suffix}` }] },
      /also has webhook other/,
    ],
    [
      'no selectors',
      { ...incumbent(), webhooks: [{ name: first!.name }, ...others] },
      /are not those of Istio's chart/,
    ],
  ];
  for (const [title, changed, message] of refused)
    it(`refuses ${title}`, () => {
      assert.match(JSON.stringify(selectionOf(changed)), message);
    });
});

describe('callOf', () => {
  it('fills in the defaults of the API server', () => {
    const { clientConfig, ...call } = callOf(incumbent()) as Exclude<ReturnType<typeof callOf>, string>;
    const defaults = { failurePolicy: 'Fail', timeoutSeconds: 10, reinvocationPolicy: 'Never' };
    assert.deepEqual(
      [clientConfig, call],
      [undefined, { ...defaults, matchPolicy: 'Equivalent', matchConditions: [] }],
    );
  });

  it('refuses webhooks that differ', () => {
    const { webhooks, ...rest } = incumbent();
    const [first, ...others] = webhooks;
    const found = callOf({ ...rest, webhooks: [{ ...first!, timeoutSeconds: 3 }, ...others] });
    assert.match(JSON.stringify(found), /different values of timeoutSeconds/);
  });
});

describe('incumbentsIn', () => {
  it('takes URLs and Services of the namespace, sorted by name, with revision and tag', () => {
    const service = (namespace: string) => ({ clientConfig: { service: { name: 'istiod', namespace } } });
    const configuration = (name: string, fields: object, labels?: Record<string, string>) => ({
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
      metadata: { name, ...(labels && { labels }) },
      webhooks: [{ name: `object${suffix}`, ...fields }, { name: 'other.example.com' }],
    });
    const labels = { 'istio.io/rev': '1-27', 'istio.io/tag': 'prod' };
    const found = incumbentsIn(
      [
        configuration('b', service('istio-system'), labels),
        configuration('elsewhere', service('other')),
        configuration('a', { clientConfig: { url: 'https://istiod' } }),
        { ...configuration('empty', {}), webhooks: [] },
      ],
      'istio-system',
    );
    const seen = found.map(({ name, revision, tag, webhooks }) => [name, revision, tag, webhooks.length]);
    assert.deepEqual(seen, [
      ['a', 'default', undefined, 1],
      ['b', '1-27', 'prod', 1],
    ]);
  });
});

describe('isDeactivated', () => {
  it('needs the label of every webhook', () => {
    const [first] = incumbent().webhooks;
    const off = { ...first!, namespaceSelector: { matchLabels: { 'istio.io/deactivated': 'never-match' } } };
    assert.equal(isDeactivated({ ...incumbent(), webhooks: [off, off] }), true);
    assert.equal(isDeactivated({ ...incumbent(), webhooks: [off, { name: first!.name }] }), false);
  });
});
