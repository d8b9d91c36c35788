import assert from 'node:assert/strict';
import { KnownTemplates } from './configuration/known-templates.ts';
import { readConfigurationAtOnce } from './configuration/read-configuration.ts';
import { inject } from './inject.ts';
import { loadInjector, loadInjectorInSteps, type Injector } from './injector.ts';

const files = { config: 'policy: enabled\ntemplates: {sidecar: ""}\n', values: '{}', mesh: '', settings: '' };

/** Returns the outcome for a pod without containers. */
function outcomeOf(injector: Injector, metadata: object): string {
  const result = inject(injector, { pod: { metadata, spec: { containers: [] } }, namespace: 'shop' });
  return result.outcome === 'failed' ? `${result.reason} ${result.message}` : result.outcome;
}

describe('loadInjector', () => {
  it('loads the content of Istio’s ConfigMaps', () => {
    const injector = loadInjector({
      ...files,
      config: 'policy: enabled\ntemplates: {b: "", a: ""}\naliases: {both: [a, b]}\n',
      settings: '{"revision": "r1", "pathEnvironment": {"cluster": "east", "zone": "z"}}',
    });
    assert.equal(injector.semantics, 'Webhook');
    assert.deepEqual(injector.templateNames, ['a', 'b']);
    assert.deepEqual(Object.fromEntries(injector.environment), { ISTIO_META_CLUSTER_ID: 'east', ZONE: 'z' });
    assert.equal(injector.settings.revision, 'r1');
    assert.deepEqual(injector.warnings, []);
  });

  it('reads only the templates if the semantics are KubeInject', () => {
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
      'config: alwaysInjectSelector[0] is ignored: operator In of key "a" needs values',
    ]);
  });

  it('limits each execution of a template', () => {
    const config = `policy: enabled\ntemplates: {sidecar: "{{ range until 100 }}{{ . }}{{ end }}"}\n`;
    const injector = loadInjector({ ...files, config }, { limits: { steps: 50 } });
    assert.match(outcomeOf(injector, {}), /^TemplateLimit .*exceeded the limit of 50 steps/);
  });

  it('limits the total work for a pod, including parsing and merging', () => {
    const config = 'policy: enabled\ntemplates: {sidecar: "metadata: {labels: {a: b}}"}\n';
    const injector = loadInjector({ ...files, config }, { limits: { work: 100_000 } });
    const withTemplates = (count: number): string =>
      outcomeOf(injector, { annotations: { 'inject.istio.io/templates': Array(count).fill('sidecar').join() } });
    assert.equal(withTemplates(3), 'injected');
    const limit = 'TemplateLimit failed to run injection template: exceeded the limit of 100000 units of work';
    assert.equal(withTemplates(20), limit);
  });

  it('accepts a configuration that another thread has read', () => {
    const other = { ...files, config: 'policy: disabled\ntemplates: {a: ""}\n', values: '{"global": {"hub": "h"}}' };
    const read = structuredClone(readConfigurationAtOnce(other));
    const injector = loadInjector(files, { read });
    assert.equal(injector.files, files);
    assert.deepEqual([injector.templateNames, injector.rules.policy, injector.values.hub], [['a'], 'disabled', 'h']);
  });

  it('shares templates only within one revision, until 64 other contexts are added', () => {
    const known = new KnownTemplates();
    const load = (revision: number): unknown =>
      loadInjector({ ...files, settings: `{"revision": "${revision}"}` }, { known }).templates.byName.get('sidecar');
    const first = load(0);
    for (let other = 1; other < 64; other += 1) assert.notEqual(load(other), first);
    assert.equal(load(0), first);
    load(64);
    assert.notEqual(load(0), first);
  });

  it('yields between texts, between templates and within templates', () => {
    const templates = Array.from({ length: 10 }, (_, index) => `  t${index}: "${'{{ .Values }} x '.repeat(100)}"`);
    const config = ['policy: enabled', 'templates:', ...templates].join('\n');
    const steps = loadInjectorInSteps({ ...files, config });
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count += 1;
    assert.ok(count > 100, `${count} steps`);
    assert.equal(step.value.templateNames.length, 10);
  });

  const legacy = { config: 'template: "[[ if ]]"', settings: '{"delimiters": ["[[", "]]"]}' };
  const unclosed = /^config\.templates\.log: line 2, column \d+: unclosed action/;
  const undefinedFunction = /function "nope" not defined/;
  const noStatusPort = /^cannot parse mesh config: invalid character 'x'/;
  const wrong: [name: string, changes: Partial<typeof files>, field: string, message: RegExp][] = [
    ['an invalid config', { config: 'policy: [' }, 'config', /^config: yaml: line/],
    ['an invalid template', { config: 'templates: {log: "a\\n{{ .b"}' }, 'config.templates.log', unclosed],
    ['an unknown function', { config: 'templates: {log: "{{ nope }}"}' }, 'config.templates.log', undefinedFunction],
    ['an invalid 1.x template', legacy, 'config.template', /missing value for if/],
    ['invalid values', { values: '{"global": {"hub": 5}}' }, 'values.global.hub', /must be a string, not 5/],
    ['an invalid mesh', { mesh: 'defaultConfig: {statusPort: x}' }, 'mesh', noStatusPort],
    ['invalid settings', { settings: '{"nativeSidecars": 1}' }, 'settings.nativeSidecars', /./],
  ];
  for (const [name, changes, field, message] of wrong) {
    it(`reports the field and the error for ${name}`, () => {
      assert.throws(() => loadInjector({ ...files, ...changes }), { name: 'ConfigurationError', field, message });
    });
  }
});
