import assert from 'node:assert/strict';
import { labelSelectorMistakes } from './label-selector-mistakes.ts';

describe('labelSelectorMistakes', () => {
  it('returns no mistakes for a missing or empty selector', () => {
    assert.deepEqual(labelSelectorMistakes('spec.a', undefined), []);
    assert.deepEqual(labelSelectorMistakes('spec.a', {}), []);
  });

  it('returns the path of every mistake, even if the schema did not check the selector', () => {
    const mistakes = labelSelectorMistakes('spec.a', {
      matchLabels: { '-x': 'y' },
      matchExpressions: [
        { key: '/x', operator: 'Exists' },
        { key: 'x', operator: 'NotIn', values: ['a b', 'v'.repeat(64)] },
        { key: 'x', operator: 'NotIn' },
      ],
    });
    assert.deepEqual(
      mistakes.map(({ field }) => field),
      [
        'spec.a.matchLabels',
        'spec.a.matchExpressions[0].key',
        'spec.a.matchExpressions[1].values',
        'spec.a.matchExpressions[1].values',
        'spec.a.matchExpressions[2].values',
      ],
    );
    assert.match(mistakes[1]!.message, /"\/x" is not a label name/);
    assert.match(mistakes[2]!.message, /"a b" is not a label value/);
  });
});
