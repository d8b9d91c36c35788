import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { LabelSelector, LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { apiServerMatcher, areDisjoint, compileLabelSelector, unmetRequirements } from './label-selector.ts';
import { matches } from './testdata/matches.ts';

describe('compileLabelSelector', () => {
  const tier = (operator: LabelSelectorRequirement['operator'], ...values: string[]): LabelSelector => ({
    matchExpressions: [{ key: 'tier', operator, values }],
  });
  const both: LabelSelector = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] };
  const rows: [name: string, selector: LabelSelector, labels: Record<string, string>, matches: boolean][] = [
    ['a label with the value', { matchLabels: { tier: 'web' } }, { tier: 'web' }, true],
    ['a label with another value', { matchLabels: { tier: 'web' } }, { tier: 'db' }, false],
    ['only one of two required labels', { matchLabels: { tier: 'web', zone: 'a' } }, { tier: 'web' }, false],
    ['In', tier('In', 'web', 'db'), { tier: 'db' }, true],
    ['In without the label', tier('In', 'web'), {}, false],
    ['NotIn without the label', tier('NotIn', 'web'), {}, true],
    ['NotIn', tier('NotIn', 'web'), { tier: 'web' }, false],
    ['Exists', { matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, { tier: '' }, true],
    ['DoesNotExist', tier('DoesNotExist'), { tier: '' }, false],
    ['labels and expressions', both, { a: 'b', c: 'd' }, true],
    ['an empty selector', {}, { a: 'b' }, false],
    ['a key of Object.prototype', { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, {}, false],
  ];
  for (const [name, selector, labels, matches] of rows) {
    it(`${matches ? 'selects' : 'does not select'} an object by ${name}`, () => {
      const compiled = compileLabelSelector(selector, 'nothing');
      assert.ok('matches' in compiled);
      assert.equal(compiled.matches(labels), matches);
      const isEmpty = Object.keys(selector).length === 0;
      assert.equal(apiServerMatcher(selector)(labels), matches || isEmpty);
      assert.equal(unmetRequirements(selector, labels).length === 0, matches || isEmpty);
    });
  }

  const invalid: [name: string, selector: LabelSelector, why: RegExp][] = [
    ['a value with a space', { matchLabels: { a: 'b c' } }, /value "b c" of key "a" is not a label value/],
    ['a value that is too long', { matchLabels: { a: 'x'.repeat(64) } }, /not a label value/],
    ['a key that is not a label name', { matchLabels: { 'a b': 'c' } }, /key "a b" is not a label name/],
    ['a prefix with capitals', { matchLabels: { 'Example.com/a': 'c' } }, /not a label name/],
    ['In without values', { matchExpressions: [{ key: 'a', operator: 'In' }] }, /operator In of key "a" needs values/],
    ['Exists with values', { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }, /takes no values/],
    ['operator Gt', { matchExpressions: [{ key: 'a', operator: 'Gt' as 'In', values: ['1'] }] }, /operator "Gt"/],
  ];
  for (const [name, selector, why] of invalid) {
    it(`refuses ${name}`, () => {
      const compiled = compileLabelSelector(selector, 'nothing');
      assert.ok('invalid' in compiled);
      assert.match(compiled.invalid, why);
      assert.equal(apiServerMatcher(selector)({ a: 'x' }), false);
    });
  }

  it('accepts a key with a prefix', () => {
    const compiled = compileLabelSelector({ matchLabels: { 'example.com/team': 'a.b_c-d' } }, 'nothing');
    assert.ok('matches' in compiled && compiled.matches({ 'example.com/team': 'a.b_c-d' }));
  });
});

const team = (operator: LabelSelectorRequirement['operator'], ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'team', operator, ...(values.length === 0 ? {} : { values }) }],
});
const is = (value: string): LabelSelector => ({ matchLabels: { team: value } });

describe('areDisjoint', () => {
  const cases: [title: string, one: LabelSelector, other: LabelSelector, disjoint: boolean][] = [
    ['two empty selectors', {}, {}, false],
    ['one empty selector', {}, is('a'), false],
    ['the same label with the same value', is('a'), is('a'), false],
    ['the same label with two values', is('a'), is('b'), true],
    ['two different labels', is('a'), { matchLabels: { stage: 'b' } }, false],
    ['In with values in common', team('In', 'a', 'b'), team('In', 'b', 'c'), false],
    ['In without values in common', team('In', 'a', 'b'), team('In', 'c'), true],
    ['a label and In without its value', is('a'), team('In', 'b', 'c'), true],
    ['Exists and DoesNotExist', team('Exists'), team('DoesNotExist'), true],
    ['In and DoesNotExist', team('In', 'a'), team('DoesNotExist'), true],
    ['In and Exists', team('In', 'a'), team('Exists'), false],
    ['NotIn and DoesNotExist', team('NotIn', 'a'), team('DoesNotExist'), false],
    ['NotIn and Exists', team('NotIn', 'a'), team('Exists'), false],
    ['In and NotIn with all values of In', team('In', 'a', 'b'), team('NotIn', 'a', 'b', 'c'), true],
    ['In and NotIn with some values of In', team('In', 'a', 'b'), team('NotIn', 'a'), false],
    ['NotIn and NotIn', team('NotIn', 'a'), team('NotIn', 'b'), false],
    ['a different second label', { matchLabels: { team: 'a', stage: 'x' } }, { matchLabels: { stage: 'y' } }, true],
  ];
  for (const [title, one, other, disjoint] of cases) {
    it(`returns ${disjoint} for ${title}`, () => {
      assert.equal(areDisjoint(one, other), disjoint);
      assert.equal(areDisjoint(other, one), disjoint);
    });
  }

  it('agrees with an independent matcher that no labels match both selectors', () => {
    const key = fc.constantFrom('a', 'b');
    const value = fc.constantFrom('x', 'y');
    const requirement = fc.oneof(
      fc.record({
        key,
        operator: fc.constantFrom('In', 'NotIn'),
        values: fc.array(value, { minLength: 1, maxLength: 2 }),
      }),
      fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
    );
    const selector = fc.record({
      matchLabels: fc.dictionary(key, value, { maxKeys: 1 }),
      matchExpressions: fc.array(requirement, { maxLength: 3 }),
    });
    const values = [undefined, 'x', 'y', 'other'];
    const all = values.flatMap((a) => values.map((b) => ({ ...(a && { a }), ...(b && { b }) })));
    fc.assert(
      fc.property(selector, selector, (one, other) => {
        const common = all.filter((labels) => matches(one, labels) && matches(other, labels));
        assert.equal(areDisjoint(one, other), common.length === 0);
        for (const labels of all) assert.equal(apiServerMatcher(one)(labels), matches(one, labels));
      }),
      { numRuns: 500 },
    );
  });
});
