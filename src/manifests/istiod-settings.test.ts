import assert from 'node:assert/strict';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { contradictions, effectiveSettings, istiodSettings } from './istiod-settings.ts';

const configFrom = { namespace: 'istio-system', name: 'istio-sidecar-injector', key: 'config' };

/** Returns the values as Istio's chart writes them. */
function valuesWith(platform: unknown, env: object = {}, byDefault: unknown = false): object {
  return {
    global: { platform },
    pilot: { cni: { enabled: false }, env },
    sidecarInjectorWebhook: { enableNamespacesByDefault: byDefault },
  };
}

describe('istiodSettings', () => {
  const rows: [name: string, values: unknown, settings: object][] = [
    ['no values', {}, {}],
    ["the chart's own values", valuesWith(''), { enableNamespacesByDefault: false }],
    ['OpenShift', { global: { platform: 'openshift' } }, { platform: 'OpenShift' }],
    ['another platform', { global: { platform: 'gke' } }, { platform: 'Kubernetes' }],
    ['a policy', { pilot: { env: { COMPLIANCE_POLICY: 'fips-140-3' } } }, { compliancePolicy: 'fips-140-3' }],
    ['automatic native sidecars', { pilot: { env: { ENABLE_NATIVE_SIDECARS: 'auto' } } }, { nativeSidecars: 'Auto' }],
    ['native sidecars', { pilot: { env: { ENABLE_NATIVE_SIDECARS: 'true' } } }, { nativeSidecars: 'Enabled' }],
    ['a boolean', { pilot: { env: { ENABLE_NATIVE_SIDECARS: false } } }, { nativeSidecars: 'Disabled' }],
    ['an unknown word', { pilot: { env: { ENABLE_NATIVE_SIDECARS: 'yes' } } }, { nativeSidecars: 'Disabled' }],
    ['all namespaces', valuesWith(null, {}, true), { enableNamespacesByDefault: true }],
    ['values of other types', { global: 'x', pilot: { env: [] }, sidecarInjectorWebhook: null }, {}],
  ];
  for (const [name, values, settings] of rows) {
    it(`reads ${name}`, () => {
      assert.deepEqual(istiodSettings(values), settings);
    });
  }
});

describe('effectiveSettings', () => {
  const values = JSON.stringify(
    valuesWith('openshift', { COMPLIANCE_POLICY: 'fips-140-2', ENABLE_NATIVE_SIDECARS: 'false' }),
  );
  const ofIstiod = { platform: 'OpenShift', compliancePolicy: 'fips-140-2', nativeSidecars: 'Disabled' };
  const usual = { platform: 'Kubernetes', compliancePolicy: '', nativeSidecars: 'Auto' };
  const settingsOf = (injection: object) =>
    effectiveSettings(injectorConfig('a', { injection }).spec.injection, values);

  it('uses the values with configFrom, and the spec first', () => {
    assert.deepEqual(settingsOf({ configFrom }), ofIstiod);
    assert.deepEqual(settingsOf({ configFrom, ...usual }), usual);
  });

  it('ignores the values without configFrom', () => {
    assert.deepEqual(settingsOf({ templates: { sidecar: 'a' } }), usual);
  });
});

describe('contradictions', () => {
  const all = JSON.stringify(valuesWith('openshift', { ENABLE_NATIVE_SIDECARS: 'false' }, true));
  const found = (name: string, injection: object, values = all): string[] =>
    contradictions(injectorConfig(name, { injection }), values);

  it('names the field, both values and the place', () => {
    assert.deepEqual(found('a', { configFrom, nativeSidecars: 'Auto' }), [
      'spec.injection.nativeSidecars is "Auto", but pilot.env.ENABLE_NATIVE_SIDECARS in the values beside ConfigMap istio-system/istio-sidecar-injector means "Disabled"; set the field to this value, or change the values',
    ]);
    assert.match(found('a', { configFrom, platform: 'Kubernetes' }).join(), /platform is "Kubernetes".*"OpenShift"/);
  });

  it('reports unlabelled namespaces for the default revision only, as only its webhook selects them', () => {
    assert.match(found('default', { configFrom }).join(), /enableNamespacesByDefault is false.*means true/);
    assert.deepEqual(found('default', { configFrom, enableNamespacesByDefault: true }), []);
    assert.deepEqual(found('a', { configFrom }), []);
    assert.deepEqual(found('default', { configFrom, enableNamespacesByDefault: true }, '{}'), []);
  });

  it('finds none without configFrom', () => {
    assert.deepEqual(found('default', { templates: { sidecar: 'a' }, platform: 'Kubernetes' }), []);
  });
});
