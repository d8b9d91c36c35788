import assert from 'node:assert/strict';
import { revisionOf } from './injector-config.ts';
import {
  hashedConfigMapName,
  injectPath,
  objectNames,
  serviceHostName,
  rolloutOfPath,
  tagInjectPath,
  tagProbeSubject,
  tagRolloutPath,
  tagWebhookConfiguration,
  validatorNames,
} from './names.ts';
import { pathProbeName } from './path-probe.ts';
import { nameRules } from './injector-config-rules.ts';
import { injectorConfig } from './testdata/injector-config.ts';

describe('names', () => {
  it('of the objects of an InjectorConfig', () => {
    assert.deepEqual(objectNames('1-24'), {
      authoritySecret: 'sidecar-injector-1-24',
      servingSecret: 'sidecar-injector-1-24-serving',
      service: 'sidecar-injector-1-24',
      configMap: 'sidecar-injector-1-24',
      webhookConfiguration: 'sidecar-injector-1-24',
    });
    assert.equal(hashedConfigMapName('1-24', '0123abcd'), 'sidecar-injector-1-24-0123abcd');
    assert.equal(injectPath('1-24', '0123abcd'), '/revisions/1-24/0123abcd/inject');
    assert.equal(serviceHostName('sidecar-injector-1-24', 'system'), 'sidecar-injector-1-24.system.svc');
  });

  it('of what a tag has', () => {
    assert.equal(tagWebhookConfiguration('prod'), 'sidecar-injector-tag-prod');
    assert.equal(tagWebhookConfiguration('default'), objectNames('default').webhookConfiguration);
    assert.equal(tagInjectPath('prod', '1-24', '0123abcd'), '/tags/prod/1-24/0123abcd/inject');
    assert.equal(pathProbeName(tagProbeSubject('prod')), 'sidecar-injector-probe-tag-prod');
  });

  it('of a tag in a rollout, and read again', () => {
    const rollout = {
      tag: 'prod',
      stable: { name: '1-24', hash: '0123abcd' },
      // As an InjectorConfig may be called, and what a path at rest ends in.
      canary: { name: 'inject', hash: '89abcdef' },
      threshold: '0d00000000000000',
    };
    const path = '/tags/prod/1-24/0123abcd/inject/89abcdef/0d00000000000000';
    for (const shadow of [true, false]) {
      const whole = `${path}/${shadow ? 'shadow' : 'inject'}`;
      assert.equal(tagRolloutPath({ ...rollout, shadow }), whole);
      assert.deepEqual(rolloutOfPath(whole), { ...rollout, shadow });
      assert.deepEqual(rolloutOfPath(`https://example.com/prefix${whole}`), { ...rollout, shadow });
    }
    for (const other of [path, `${path}0/inject`, `${path}/inject/x`, tagInjectPath('prod', '1-24', '0123abcd')]) {
      assert.equal(rolloutOfPath(other), undefined, other);
    }
  });

  it('of the validating webhook, by operator class', () => {
    assert.deepEqual(validatorNames('blue'), {
      webhookConfiguration: 'sidecar-injector-blue-validator',
      service: 'injector-validator-blue',
      authoritySecret: 'injector-validator-blue',
      servingSecret: 'injector-validator-blue-serving',
    });
  });

  it('fit into the name of a Service for the longest name that is allowed', () => {
    assert.ok(objectNames('n'.repeat(46)).service.length <= 63);
  });

  it('of one InjectorConfig are never those of another that is allowed', () => {
    const allowed = (name: string) => nameRules.every(({ holds }) => holds(injectorConfig(name)));
    for (const taken of [
      objectNames('a').servingSecret,
      hashedConfigMapName('a', '0123abcd'),
      tagWebhookConfiguration('prod'),
    ]) {
      const name = taken.replace(/^sidecar-injector-/, '');
      assert.equal(objectNames(name).configMap, taken);
      assert.equal(allowed(name), false, name);
    }
  });
});

describe('revisionOf', () => {
  it('is the revision, or the name', () => {
    assert.equal(revisionOf(injectorConfig('mesh', { revision: '1-24' })), '1-24');
    assert.equal(revisionOf(injectorConfig('mesh')), 'mesh');
  });
});
