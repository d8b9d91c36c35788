import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nameRules, specRules } from './injector-config/injector-config-rules.ts';
import { revisionTagRules, revisionTagSpecRules } from './revision-tag/revision-tag-rules.ts';
import { badInjectorConfigs } from './testdata/bad-injector-configs.ts';
import { badRevisionTags } from './testdata/bad-revision-tags.ts';
import { injectorConfig } from './testdata/injector-config.ts';
import { revisionTag } from './testdata/revision-tag.ts';
import { brokenRules, validationRules } from './validation-rules.ts';

describe('validationRules', () => {
  for (const [expression, self, expected] of [
    ["isURL(self) && self.startsWith('https:')", 'https://[::1]:443/a', true],
    ['isURL(self)', 'https://[::::]/', false],
    ['self.map(x, x).isSorted()', [], true],
    ['self.map(x, x).isSorted()', [0, 0, 1], true],
    ['self.map(x, x).isSorted()', [2, 9, 10], true],
    ['self.map(x, x).isSorted()', [1, 3, 2], false],
    ['self == 0 || self >= 0.5', 0, true],
    ['self == 0 || self >= 0.5', 1, true],
  ] as const) {
    it(`evaluates ${expression} for ${JSON.stringify(self)} to ${expected}`, () => {
      const rules = validationRules({ 'spec.a_b and c: must': expression });
      assert.deepEqual(
        rules.map(({ field, holds }) => [field, holds({ self })]),
        [['spec.a_b', expected]],
      );
    });
  }
});

describe('brokenRules', () => {
  const broken = (name: string, spec: object) =>
    brokenRules(nameRules, specRules, { metadata: { name }, spec: injectorConfig(name, { ...spec }).spec });

  it('returns every rule for some object of the tables that a real API server refuses', () => {
    const found = [
      ...badInjectorConfigs
        .filter(({ refusedBy }) => refusedBy === 'rule')
        .flatMap(({ name = 'candidate', spec }) => broken(name, { injection: {}, ...spec })),
      ...badRevisionTags
        .filter(({ refusedBy }) => refusedBy === 'rule')
        .flatMap(({ name, spec }) => brokenRules(revisionTagRules, revisionTagSpecRules, revisionTag(name, spec))),
    ];
    const all = [...nameRules, ...specRules, ...revisionTagRules, ...revisionTagSpecRules].map(
      ({ message }) => message,
    );
    assert.deepEqual([...new Set(found.map(({ message }) => message))].sort(), all.sort());
  });

  it('evaluates every rule, whatever the names that authors choose', () => {
    const name = fc.oneof(fc.constantFrom('constructor', '__proto__', 'toString', 'values', 'meshConfig'), fc.string());
    const chosen = fc.dictionary(name, fc.constantFrom('', 'a'), { minKeys: 1, maxKeys: 3 });
    fc.assert(
      fc.property(chosen, (names) => {
        const lists = Object.fromEntries(Object.keys(names).map((key) => [key, ['a']]));
        const selectors = [{ matchLabels: names }];
        const templates = { ...names, sidecar: 'x' };
        const injection = { templates, values: names, aliases: lists, injectedAnnotations: names };
        const webhook = { selection: 'Custom', objectSelector: { matchLabels: names }, pathEnvironment: names };
        const all = { ...injection, alwaysInjectSelector: selectors, neverInjectSelector: selectors };
        assert.deepEqual(broken('a', { injection: all, webhook }), []);
        const configFrom = { namespace: 'a', name: 'b', key: 'c' };
        const both = { ...all, configFrom, valuesFrom: configFrom, meshConfig: names, meshConfigFrom: configFrom };
        const fields = broken('a', { injection: both }).map(({ field }) => field.replace('spec.injection', ''));
        assert.deepEqual(fields, ['', '.configFrom', '.meshConfigFrom', '.valuesFrom']);
      }),
    );
  });

  it('does not walk through arbitrary JSON', () => {
    const { spec } = injectorConfig('a');
    let values: Record<string, unknown> = {};
    for (let depth = 0; depth < 100_000; depth += 1) values = { values };
    const deep = { ...spec, injection: { ...spec.injection, values } };
    assert.deepEqual(brokenRules(nameRules, specRules, { metadata: { name: 'a' }, spec: deep }), []);
  });
});
