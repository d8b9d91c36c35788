import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { claimOfConfig } from './pod-claims.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { foreignOverlap, foreignSelectors } from './foreign-overlap.ts';
import { istio, revision, rules } from './testdata/istio-webhook.ts';

describe('foreignOverlap', () => {
  const ours = { 'app.kubernetes.io/managed-by': 'sidecar-injector' };
  const logs = { keys: { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' } };
  const resources = (...names: string[]) => istio({ rules: [{ ...rules[0], resources: names }] });
  const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] };
  const selecting = (namespaceSelector: object) => istio({ namespaceSelector, objectSelector: {} });
  const off = { matchLabels: { 'istio.io/deactivated': 'never-match' } };
  const rows: [what: string, foreign: KubernetesObject, overlaps: boolean, config?: string, spec?: object][] = [
    ["Istio's default beside ours", istio(), true],
    ["Istio's default beside a revision of ours", istio(), false, '1-24'],
    ["Istio's revision of the same name", selecting(revision('1-24')), true, '1-24'],
    ["Istio's revision of another name", selecting(revision('1-23')), false, '1-24'],
    ['another family of ours', istio(), false, 'default', { webhook: logs }],
    ['one that looks at every pod, by other labels or none', selecting({}), false],
    ['one that Istio has switched off', selecting(off), false],
    ['one for other things than pods', resources('services'), false],
    ['one for updates', istio({ rules: [{ ...rules[0], operations: ['UPDATE'] }] }), false],
    ['one for everything', istio({ rules: [all] }), true],
    ['one for pods by any subresource', resources('pods/*'), true],
    ['one that is on its way out', istio({}, { deletionTimestamp: 'now' }), false],
    ['our own', istio({}, { labels: ours }), false],
  ];
  for (const [what, foreign, overlaps, name = 'default', spec = {}] of rows) {
    it(`${what}: ${overlaps ? 'yes' : 'no'}`, () => {
      const config = injectorConfig(name, spec as Record<string, unknown>);
      const found = foreignOverlap(claimOfConfig(config), [foreign]);
      assert.equal(found?.configuration, overlaps ? 'istio-sidecar-injector' : undefined);
    });
  }

  it('is asked about again when selectors change, not when certificates do', () => {
    assert.equal(foreignSelectors(istio()), foreignSelectors(istio({ clientConfig: { url: 'https://elsewhere' } })));
    assert.notEqual(foreignSelectors(istio()), foreignSelectors(istio({ namespaceSelector: revision('x') })));
    assert.equal(foreignSelectors(istio({}, { labels: ours })), '');
    assert.equal(foreignSelectors(undefined), '');
  });
});
