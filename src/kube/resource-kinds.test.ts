import assert from 'node:assert/strict';
import { apiVersionOf, kindServedAs, knownKind, resourceKind, resourcePath } from './resource-kinds.ts';

describe('resourcePath', () => {
  const pods = resourceKind('v1', 'Pod');
  const configs = resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig');
  const cases: [string, string][] = [
    [resourcePath(pods), '/api/v1/pods'],
    [resourcePath(pods, { namespace: 'n' }), '/api/v1/namespaces/n/pods'],
    [resourcePath(pods, { namespace: 'n', name: 'p', subresource: 'log' }), '/api/v1/namespaces/n/pods/p/log'],
    [resourcePath(configs, { name: 'a/../b' }), '/apis/sidecar-injector.io/v1alpha1/injectorconfigs/a%2F..%2Fb'],
  ];
  for (const [path, expected] of cases) {
    it(`returns ${expected}`, () => {
      assert.equal(path, expected);
    });
  }
});

describe('the table of kinds', () => {
  it('finds an entry by kind and by path', () => {
    const configMaps = resourceKind('v1', 'ConfigMap');
    assert.equal(kindServedAs('', 'v1', 'configmaps'), configMaps);
    assert.equal(kindServedAs('', 'v2', 'configmaps'), undefined);
    assert.equal(knownKind('v1', 'Widget'), undefined);
    assert.equal(apiVersionOf(configMaps), 'v1');
    assert.equal(apiVersionOf({ group: 'apps', version: 'v1' }), 'apps/v1');
    assert.throws(() => resourceKind('v1', 'Widget'), /v1 Widget is not in the table/);
  });
});
