import assert from 'node:assert/strict';
import type { LabelSelector } from '../../api/kubernetes.ts';
import { compileLabelSelector } from './label-selector.ts';

describe('compileLabelSelector', () => {
  const rows: [name: string, selector: LabelSelector, labels: Record<string, string>, matches: boolean][] = [
    ['a label of the value', { matchLabels: { tier: 'web' } }, { tier: 'web' }, true],
    ['another value', { matchLabels: { tier: 'web' } }, { tier: 'db' }, false],
    ['all of several labels', { matchLabels: { tier: 'web', zone: 'a' } }, { tier: 'web' }, false],
    ['In', { matchExpressions: [{ key: 'tier', operator: 'In', values: ['web', 'db'] }] }, { tier: 'db' }, true],
    ['In without the label', { matchExpressions: [{ key: 'tier', operator: 'In', values: ['web'] }] }, {}, false],
    ['NotIn without the label', { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['web'] }] }, {}, true],
    ['NotIn', { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['web'] }] }, { tier: 'web' }, false],
    ['Exists', { matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, { tier: '' }, true],
    [
      'DoesNotExist',
      { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist', values: [] }] },
      { tier: '' },
      false,
    ],
    [
      'labels and expressions',
      { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] },
      { a: 'b', c: 'd' },
      true,
    ],
    ['nothing at all', {}, { a: 'b' }, false],
    ['a name of Object', { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, {}, false],
  ];
  for (const [name, selector, labels, matches] of rows) {
    it(`${name}: ${matches ? 'matches' : 'does not match'}`, () => {
      const compiled = compileLabelSelector(selector);
      assert.ok('matches' in compiled);
      assert.equal(compiled.matches(labels), matches);
    });
  }

  const invalid: [name: string, selector: LabelSelector, why: RegExp][] = [
    ['a value with a space', { matchLabels: { a: 'b c' } }, /value "b c" of key "a" is not a label value/],
    ['a value that is too long', { matchLabels: { a: 'x'.repeat(64) } }, /not a label value/],
    ['a key that is no name', { matchLabels: { 'a b': 'c' } }, /key "a b" is not a label name/],
    ['a prefix with capitals', { matchLabels: { 'Example.com/a': 'c' } }, /not a label name/],
    ['In without values', { matchExpressions: [{ key: 'a', operator: 'In' }] }, /operator In of key "a" needs values/],
    ['Exists with values', { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }, /takes no values/],
    [
      'an unknown operator',
      { matchExpressions: [{ key: 'a', operator: 'Gt' as 'In', values: ['1'] }] },
      /operator "Gt"/,
    ],
  ];
  for (const [name, selector, why] of invalid) {
    it(`refuses ${name}`, () => {
      const compiled = compileLabelSelector(selector);
      assert.ok('invalid' in compiled);
      assert.match(compiled.invalid, why);
    });
  }

  it('takes a key with a prefix', () => {
    const compiled = compileLabelSelector({ matchLabels: { 'example.com/team': 'a.b_c-d' } });
    assert.ok('matches' in compiled && compiled.matches({ 'example.com/team': 'a.b_c-d' }));
  });
});
