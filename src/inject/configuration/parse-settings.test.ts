import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { parseSettings } from './parse-settings.ts';

describe('parseSettings', () => {
  it('means Istio’s own behaviour by nothing', () => {
    assert.deepEqual(parseSettings(''), {
      revision: 'default',
      delimiters: ['{{', '}}'],
      nativeSidecars: 'Auto',
      keys: istioKeys,
      pathEnvironment: {},
      platform: 'Kubernetes',
      compliancePolicy: '',
      annotationOverrides: { preset: 'Istio', allow: [] },
    });
  });

  it('takes what is there and completes the keys', () => {
    const keys = { inject: 'logs.example/inject' };
    const written = { revision: 'r1', delimiters: ['[[', ']]'], nativeSidecars: 'Disabled', keys };
    const settings = parseSettings(JSON.stringify(written));
    assert.equal(settings.revision, 'r1');
    assert.deepEqual(settings.delimiters, ['[[', ']]']);
    assert.deepEqual(settings.keys, { ...istioKeys, ...keys });
  });

  const wrong: [name: string, text: string, field: string][] = [
    ['no JSON', '{', 'settings'],
    ['a list', '[]', 'settings'],
    ['one delimiter', '{"delimiters": ["[["]}', 'settings.delimiters'],
    ['an unknown mode', '{"nativeSidecars": "Sometimes"}', 'settings.nativeSidecars'],
    ['a key that is no text', '{"keys": {"status": 1}}', 'settings.keys.status'],
    ['an environment that is no text', '{"pathEnvironment": {"net": 1}}', 'settings.pathEnvironment.net'],
  ];
  for (const [name, text, field] of wrong) {
    it(`refuses ${name}, naming ${field}`, () => {
      assert.throws(() => parseSettings(text), { name: 'ConfigurationError', field });
    });
  }
});
