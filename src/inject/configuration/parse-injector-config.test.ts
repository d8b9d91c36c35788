import assert from 'node:assert/strict';
import { parseTemplateConfig } from './parse-injector-config.ts';

describe('parseInjectorConfig', () => {
  it('reads named templates', () => {
    const config = parseTemplateConfig(
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
    const config = parseTemplateConfig('policy: disabled\ntemplate: "containers: []"\n');
    assert.deepEqual([...config.templates], [['sidecar', 'containers: []']]);
    assert.deepEqual(config.defaultTemplates, ['sidecar']);
    assert.equal(config.legacy, true);
    assert.equal(parseTemplateConfig('policy: &a 5\ntemplates: {a: *a}\n').templates.get('a'), '5');
  });

  it('prefers named templates', () => {
    const config = parseTemplateConfig('template: "{{ broken"\ntemplates: {a: ""}\n');
    assert.deepEqual([...config.templates.keys()], ['a']);
    assert.equal(config.legacy, false);
  });

  it('treats null as absent', () => {
    const config = parseTemplateConfig(
      'policy:\ndefaultTemplates:\ntemplates:\ninjectedAnnotations:\nneverInjectSelector: [{matchLabels: , matchExpressions: }]\nalwaysInjectSelector:\n',
    );
    const neverInjectSelector = [{ matchLabels: {}, matchExpressions: [] }];
    assert.deepEqual(config, { ...parseTemplateConfig(''), neverInjectSelector });
  });

  it('reads an empty text as an empty config', () => {
    const config = parseTemplateConfig('');
    assert.equal(config.policy, '');
    assert.equal(config.templates.size, 0);
    assert.deepEqual(config.neverInjectSelector, []);
  });

  /** Results of sigs.k8s.io/yaml 1.6.0 for a member of a map[string]string. */
  const scalars: [yaml: string, text: string][] = [
    ...(['on', 'Yes', 'true', 'y'] as const).map((yaml): [string, string] => [yaml, 'true']),
    ['off', 'false'],
    ['~', ''],
    ['1.10', '1.1'],
    ['1e3', '1000'],
    ['1e21', '1e+21'],
    ['1000000.0', '1e+06'],
    ['123456789.5', '1.2345679e+08'],
    ['12345678901234567890123', '1.2345679e+22'],
    ['18446744073709551615', '18446744073709551615'],
    ['18_446_744_073_709_551_615', '18446744073709551615'],
    ['-0', '0'],
    ['-1.0', '-1'],
    ['1_000', '1000'],
    ['010', '8'],
    ['0x1F', '31'],
    ['+5', '5'],
    ['9223372036854775807', '9223372036854775807'],
    ['2001-02-03', '2001-02-03'],
  ];
  for (const [yaml, text] of scalars) {
    it(`reads ${yaml} as the string ${JSON.stringify(text)}`, () => {
      const config = parseTemplateConfig(
        `policy: ${yaml}\ninjectedAnnotations: {a: ${yaml}}\nneverInjectSelector: [{matchLabels: {b: ${yaml}}, matchExpressions: [{key: k, operator: In, values: [${yaml}]}]}]\n`,
      );
      const [selector] = config.neverInjectSelector;
      const found = [config.policy, config.injectedAnnotations.get('a'), selector?.matchLabels.b];
      assert.deepEqual([...found, ...(selector?.matchExpressions[0]?.values ?? [])], [text, text, text, text]);
    });
  }

  const wrong: [name: string, text: string, field: string, message: RegExp][] = [
    ['a number as a list', 'defaultTemplates: 5', 'config.defaultTemplates', /column 19\): .*, received number$/],
    ['an alias of a map', 'a: &a {x: {}}\ntemplates: *a\n', 'config.templates.x', /^\S+ \(line 2, column 12\): /],
    ['invalid YAML', 'policy: [', 'config', /^config: yaml: line \d/],
    ['a list', '- a', 'config', /^config: /],
    [
      'a template that is not a string',
      'policy: enabled\ntemplates:\n  log: {}\n',
      'config.templates.log',
      /^config\.templates\.log \(line 3, column 8\): /,
    ],
    [
      'a selector that is not a list',
      'neverInjectSelector: {}',
      'config.neverInjectSelector',
      /^config\.neverInjectSelector \(line 1, column 22\): /,
    ],
    [
      'a list as a label value',
      'alwaysInjectSelector:\n- matchLabels: {a: [b]}\n',
      'config.alwaysInjectSelector.0.matchLabels.a',
      /\(line 2, column 20\)/,
    ],
  ];
  for (const [name, text, field, message] of wrong) {
    it(`refuses ${name}`, () => {
      assert.throws(() => parseTemplateConfig(text), { name: 'ConfigurationError', field, message });
    });
  }
});
