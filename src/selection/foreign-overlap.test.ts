import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { claimOfConfig } from './pod-claims.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { foreignOverlap, foreignSelectors } from './foreign-overlap.ts';
import { istio, revision, rules } from './testdata/istio-webhook.ts';

describe('foreignOverlap', () => {
  const ours = { 'app.kubernetes.io/managed-by': 'sidecar-injector' };
  const logs = { keys: { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' } };
  const rows: [
    what: string,
    config: string,
    spec: Record<string, unknown>,
    foreign: KubernetesObject,
    overlaps: boolean,
  ][] = [
    ["Istio's default beside ours", 'default', {}, istio(), true],
    ["Istio's default beside a revision of ours", '1-24', {}, istio(), false],
    [
      "Istio's revision of the same name",
      '1-24',
      {},
      istio({ namespaceSelector: revision('1-24'), objectSelector: {} }),
      true,
    ],
    [
      "Istio's revision of another name",
      '1-24',
      {},
      istio({ namespaceSelector: revision('1-23'), objectSelector: {} }),
      false,
    ],
    ['another family of ours', 'default', { webhook: logs }, istio(), false],
    [
      'one that looks at every pod, by other labels or none',
      'default',
      {},
      istio({ namespaceSelector: {}, objectSelector: {} }),
      false,
    ],
    [
      'one that Istio has switched off',
      'default',
      {},
      istio({ namespaceSelector: { matchLabels: { 'istio.io/deactivated': 'never-match' } }, objectSelector: {} }),
      false,
    ],
    [
      'one for other things than pods',
      'default',
      {},
      istio({ rules: [{ ...rules[0], resources: ['services'] }] }),
      false,
    ],
    ['one for updates', 'default', {}, istio({ rules: [{ ...rules[0], operations: ['UPDATE'] }] }), false],
    [
      'one for everything',
      'default',
      {},
      istio({ rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] }),
      true,
    ],
    [
      'one for pods by any subresource',
      'default',
      {},
      istio({ rules: [{ ...rules[0], resources: ['pods/*'] }] }),
      true,
    ],
    ['one that is on its way out', 'default', {}, istio({}, { deletionTimestamp: 'now' }), false],
    ['our own', 'default', {}, istio({}, { labels: ours }), false],
  ];
  for (const [what, name, spec, foreign, overlaps] of rows) {
    it(`${what}: ${overlaps ? 'yes' : 'no'}`, () => {
      const found = foreignOverlap(claimOfConfig(injectorConfig(name, spec)), [foreign]);
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
