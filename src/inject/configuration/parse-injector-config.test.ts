import assert from 'node:assert/strict';
import { parseInjectorConfig } from './parse-injector-config.ts';

describe('parseInjectorConfig', () => {
  it('reads named templates', () => {
    const config = parseInjectorConfig(
      'policy: enabled\ntemplates: {log: "spec: {}", proxy: ""}\ndefaultTemplates: [log]\naliases: {both: [log, proxy]}\ninjectedAnnotations: {a: b}\n',
    );
    assert.deepEqual([...config.templates.keys()], ['log', 'proxy']);
    assert.deepEqual([...config.templates.values()], ['spec: {}', '']);
    assert.deepEqual(config.defaultTemplates, ['log']);
    assert.deepEqual(config.aliases.get('both'), ['log', 'proxy']);
    assert.deepEqual([...config.injectedAnnotations], [['a', 'b']]);
    assert.equal(config.legacy, false);
  });

  it('reads the single template of 1.x', () => {
    const config = parseInjectorConfig('policy: disabled\ntemplate: "containers: []"\n');
    assert.deepEqual([...config.templates], [['sidecar', 'containers: []']]);
    assert.deepEqual(config.defaultTemplates, ['sidecar']);
    assert.equal(config.legacy, true);
  });

  it('prefers named templates', () => {
    const config = parseInjectorConfig('template: "{{ broken"\ntemplates: {a: ""}\n');
    assert.deepEqual([...config.templates.keys()], ['a']);
    assert.equal(config.legacy, false);
  });

  it('has nothing in an empty text', () => {
    const config = parseInjectorConfig('');
    assert.equal(config.policy, '');
    assert.equal(config.templates.size, 0);
    assert.deepEqual(config.neverInjectSelector, []);
  });

  const wrong: [name: string, text: string, field: string, message: RegExp][] = [
    ['no YAML', 'policy: [', 'config', /^config: yaml: line \d/],
    ['a list', '- a', 'config', /^config: /],
    [
      'a template that is no text',
      'policy: enabled\ntemplates:\n  log: {}\n',
      'config.templates.log',
      /^config\.templates\.log \(line 3, column 8\): /,
    ],
    [
      'a selector that is no list',
      'neverInjectSelector: {}',
      'config.neverInjectSelector',
      /^config\.neverInjectSelector \(line 1, column 22\): /,
    ],
    [
      'a boolean for a label',
      'alwaysInjectSelector:\n- matchLabels: {a: yes}\n',
      'config.alwaysInjectSelector.0.matchLabels.a',
      /\(line 2, column 20\)/,
    ],
  ];
  for (const [name, text, field, message] of wrong) {
    it(`refuses ${name}`, () => {
      assert.throws(() => parseInjectorConfig(text), { name: 'ConfigurationError', field, message });
    });
  }
});
