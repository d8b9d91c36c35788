import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { parseSettings } from './parse-settings.ts';

describe('parseSettings', () => {
  it('defaults to Istio’s behavior', () => {
    assert.deepEqual(parseSettings(''), {
      revision: 'default',
      delimiters: ['{{', '}}'],
      nativeSidecars: 'Auto',
      keys: istioKeys,
      pathEnvironment: {},
      platform: 'Kubernetes',
      compliancePolicy: '',
      annotationOverrides: { preset: 'Istio', allow: [] },
      podResources: 'Keep',
      windowsPods: 'Inject',
    });
  });

  it('reads the given settings and completes the keys', () => {
    const keys = { inject: 'logs.example/inject' };
    const written = { revision: 'r1', delimiters: ['<', '>'], nativeSidecars: 'Auto', platform: 'Kubernetes', keys };
    const settings = parseSettings(JSON.stringify(written));
    assert.deepEqual(settings, { ...parseSettings(''), ...written, keys: { ...istioKeys, ...keys } });
  });

  const wrong: [name: string, text: string, field: string, problem: RegExp][] = [
    ['invalid JSON', '{', 'settings', /^settings: not JSON: \S/],
    ['a list', '[]', 'settings', /^settings: .*expected object/],
    ['one delimiter', '{"delimiters": ["[["]}', 'settings.delimiters', /^settings\.delimiters: .*2 items/],
    ['an unknown mode', '{"nativeSidecars": "Sometimes"}', 'settings.nativeSidecars', /"Disabled"$/],
    ['a key that is not a string', '{"keys": {"status": 1}}', 'settings.keys.status', /expected string/],
    ['a variable that is not a string', '{"pathEnvironment": {"net": 1}}', 'settings.pathEnvironment.net', /string/],
  ];
  for (const [name, text, field, message] of wrong) {
    it(`refuses ${name} and names ${field}`, () => {
      assert.throws(() => parseSettings(text), { name: 'ConfigurationError', field, message });
    });
  }
});
