import assert from 'node:assert/strict';
import { revisionOf } from './injector-config/injector-config.ts';
import {
  hashedConfigMapName,
  objectNames,
  serviceHostName,
  tagProbeSubject,
  tagWebhookConfiguration,
  validatorNames,
  pathProbeName,
} from './names.ts';
import { nameRules } from './injector-config/injector-config-rules.ts';
import { injectorConfig } from './testdata/injector-config.ts';

describe('object names', () => {
  it('names the objects of an InjectorConfig', () => {
    assert.deepEqual(objectNames('1-24'), {
      authoritySecret: 'sidecar-injector-1-24',
      servingSecret: 'sidecar-injector-1-24-serving',
      requestSecret: 'injector-request-1-24',
      certificate: 'injector-certificate-1-24',
      service: 'sidecar-injector-1-24',
      configMap: 'sidecar-injector-1-24',
      webhookConfiguration: 'sidecar-injector-1-24',
    });
    assert.equal(hashedConfigMapName('1-24', '0123abcd'), 'sidecar-injector-1-24-0123abcd');
    assert.equal(serviceHostName('sidecar-injector-1-24', 'system'), 'sidecar-injector-1-24.system.svc');
  });

  it('names the objects of a tag', () => {
    assert.equal(tagWebhookConfiguration('prod'), 'sidecar-injector-tag-prod');
    assert.equal(tagWebhookConfiguration('default'), objectNames('default').webhookConfiguration);
    assert.equal(pathProbeName(tagProbeSubject('prod')), 'sidecar-injector-probe-tag-prod');
  });

  it('names the objects of the validating webhook by operator class', () => {
    assert.deepEqual(validatorNames('blue'), {
      webhookConfiguration: 'sidecar-injector-blue-validator',
      service: 'injector-validator-blue',
      authoritySecret: 'injector-validator-blue',
      servingSecret: 'injector-validator-blue-serving',
    });
  });

  it('keeps the Service name within 63 characters for the longest allowed InjectorConfig name', () => {
    assert.ok(objectNames('n'.repeat(46)).service.length <= 63);
  });

  it('gives the objects of two allowed InjectorConfigs different names', () => {
    const allowed = (name: string) => nameRules.every(({ holds }) => holds({ self: injectorConfig(name) }));
    const { servingSecret } = objectNames('a');
    for (const existing of [servingSecret, hashedConfigMapName('a', '0123abcd'), tagWebhookConfiguration('prod')]) {
      const name = existing.replace(/^sidecar-injector-/, '');
      assert.equal(objectNames(name).configMap, existing);
      assert.equal(allowed(name), false, name);
    }
  });
});

describe('revisionOf', () => {
  it('returns spec.revision, or metadata.name if spec.revision is unset', () => {
    assert.equal(revisionOf(injectorConfig('mesh', { revision: '1-24' })), '1-24');
    assert.equal(revisionOf(injectorConfig('mesh')), 'mesh');
  });
});
