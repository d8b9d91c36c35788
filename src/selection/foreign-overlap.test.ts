import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { claimOfConfig } from './pod-claims.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { foreignOverlap, foreignSelectors, istioSelectors } from './foreign-overlap.ts';
import { istio, revision, rules } from './testdata/istio-webhook.ts';

describe('foreignOverlap', () => {
  const ours = { 'app.kubernetes.io/managed-by': 'sidecar-injector' };
  const logs = { keys: { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' } };
  const resources = (...names: string[]) => istio({ rules: [{ ...rules[0], resources: names }] });
  const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] };
  const selecting = (namespaceSelector: object) => istio({ namespaceSelector, objectSelector: {} });
  const off = { matchLabels: { 'istio.io/deactivated': 'never-match' } };
  const rows: [title: string, foreign: KubernetesObject, overlaps: boolean, config?: string, spec?: object][] = [
    ["Istio's default revision, beside ours,", istio(), true],
    ["Istio's default revision, beside another revision,", istio(), false, '1-24'],
    ["Istio's revision of the same name", selecting(revision('1-24')), true, '1-24'],
    ["Istio's revision of another name", selecting(revision('1-23')), false, '1-24'],
    ['an InjectorConfig of another family', istio(), false, 'default', { webhook: logs }],
    ['a webhook that selects every pod, without labels of the family', selecting({}), false],
    ['a webhook that Istio has deactivated', selecting(off), false],
    ['a webhook for other resources', resources('services'), false],
    ['a webhook for updates', istio({ rules: [{ ...rules[0], operations: ['UPDATE'] }] }), false],
    ['a webhook for all resources', istio({ rules: [all] }), true],
    ['a webhook for pods with any subresource', resources('pods/*'), true],
    ['a webhook configuration that is being deleted', istio({}, { deletionTimestamp: 'now' }), false],
    ['a webhook configuration of this operator', istio({}, { labels: ours }), false],
  ];
  for (const [title, foreign, overlaps, name = 'default', spec = {}] of rows) {
    it(`${title} ${overlaps ? 'overlaps' : 'does not overlap'}`, () => {
      const config = injectorConfig(name, spec as Record<string, unknown>);
      const found = foreignOverlap(claimOfConfig(config), [foreign]);
      assert.equal(found?.configuration, overlaps ? 'istio-sidecar-injector' : undefined);
    });
  }

  it('makes foreignSelectors change with the selectors, not with the endpoint', () => {
    assert.equal(foreignSelectors(istio()), foreignSelectors(istio({ clientConfig: { url: 'https://elsewhere' } })));
    assert.notEqual(foreignSelectors(istio()), foreignSelectors(istio({ namespaceSelector: revision('x') })));
    assert.equal(foreignSelectors(istio({}, { labels: ours })), '');
    assert.equal(foreignSelectors(undefined), '');
  });
});

describe('istioSelectors', () => {
  const selects = (configuration: KubernetesObject, isCertain = true): boolean =>
    istioSelectors([configuration], isCertain).some(({ namespace }) => namespace({ 'istio-injection': 'enabled' }));

  it("returns the selectors of Istio's injector, if they alone decide", () => {
    const conditional = istio({ matchConditions: [{ name: 'some', expression: 'true' }] });
    assert.deepEqual([selects(istio()), selects(conditional), selects(conditional, false)], [true, false, true]);
    assert.equal(selects(istio({ name: 'x.example.com' })), false);
    assert.equal(selects(istio({}, { deletionTimestamp: 'now' })), false);
  });
});
