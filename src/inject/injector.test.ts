import assert from 'node:assert/strict';
import { loadInjector } from './injector.ts';

const files = { config: 'policy: enabled\ntemplates: {sidecar: ""}\n', values: '{}', mesh: '', settings: '' };

describe('loadInjector', () => {
  it('loads what Istio’s ConfigMaps hold', () => {
    const injector = loadInjector({
      ...files,
      config: 'policy: enabled\ntemplates: {b: "", a: ""}\naliases: {both: [a, b]}\n',
      settings: '{"revision": "r1", "pathEnvironment": {"cluster": "east", "zone": "z"}}',
    });
    assert.equal(injector.semantics, 'Webhook');
    assert.deepEqual(injector.templateNames, ['a', 'b']);
    assert.deepEqual(
      [...injector.environment],
      [
        ['ISTIO_META_CLUSTER_ID', 'east'],
        ['ZONE', 'z'],
      ],
    );
    assert.equal(injector.settings.revision, 'r1');
    assert.deepEqual(injector.warnings, []);
  });

  it('reads only the templates with the semantics of kube-inject', () => {
    const config =
      'policy: disabled\ntemplates: {sidecar: ""}\ndefaultTemplates: [x]\nneverInjectSelector: [{matchLabels: {a: b}}]\ninjectedAnnotations: {a: b}\n';
    const injector = loadInjector({ ...files, config, settings: '{"revision": "r1"}' }, { semantics: 'KubeInject' });
    assert.equal(injector.rules.policy, 'enabled');
    assert.deepEqual(injector.rules.neverInject, []);
    assert.deepEqual(injector.defaultTemplates, ['sidecar']);
    assert.equal(injector.injectedAnnotations.size, 0);
    assert.equal(injector.settings.revision, '');
  });

  it('warns of selectors that select nothing', () => {
    const config = 'policy: enabled\nalwaysInjectSelector: [{matchExpressions: [{key: a, operator: In}]}]\n';
    assert.deepEqual(loadInjector({ ...files, config }).warnings, [
      'config: alwaysInjectSelector[0] is passed over: operator In of key "a" needs values',
    ]);
  });

  const wrong: [name: string, changes: Partial<typeof files>, field: string, message: RegExp][] = [
    ['the config', { config: 'policy: [' }, 'config', /^config: yaml: line/],
    [
      'a template',
      { config: 'templates: {log: "a\\n{{ .b"}' },
      'config.templates.log',
      /^config\.templates\.log: line 2, column \d+: unclosed action/,
    ],
    [
      'an unknown function',
      { config: 'templates: {log: "{{ nope }}"}' },
      'config.templates.log',
      /function "nope" not defined/,
    ],
    [
      'a template of 1.x',
      { config: 'template: "[[ if ]]"', settings: '{"delimiters": ["[[", "]]"]}' },
      'config.template',
      /missing value for if/,
    ],
    ['the values', { values: '{"global": {"hub": 5}}' }, 'values.global.hub', /must be a string, not 5/],
    [
      'the mesh',
      { mesh: 'defaultConfig: {statusPort: x}' },
      'mesh',
      /^cannot parse mesh config: invalid character 'x'/,
    ],
    ['the settings', { settings: '{"nativeSidecars": 1}' }, 'settings.nativeSidecars', /./],
  ];
  for (const [name, changes, field, message] of wrong) {
    it(`names what is wrong with ${name}`, () => {
      assert.throws(() => loadInjector({ ...files, ...changes }), { name: 'ConfigurationError', field, message });
    });
  }
});
