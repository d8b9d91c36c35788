import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { familyOf } from './family.ts';

describe('familyOf', () => {
  it('uses Istio’s names for Istio’s keys', () => {
    const family = familyOf(istioKeys, ['spec: {containers: [{name: istio-proxy}]}']);
    assert.equal(family.templatesKey, 'inject.istio.io/templates');
    assert.equal(family.overridesKey, 'proxy.istio.io/overrides');
    assert.equal(family.proxy, true);
  });

  it('derives another family’s names from its keys', () => {
    const keys = { ...istioKeys, inject: 'logs.example/inject', status: 'logs.example/status' };
    const family = familyOf(keys, ['spec: {containers: [{name: log-collector}]}']);
    assert.equal(family.templatesKey, 'logs.example/inject-templates');
    assert.equal(family.overridesKey, 'logs.example/status-overrides');
    assert.equal(family.proxy, false);
    assert.equal(familyOf(keys, ['# goes with istio-proxy\nspec: {}']).proxy, false);
    assert.equal(familyOf(keys, ['- name: "istio-proxy"']).proxy, true);
  });
});
