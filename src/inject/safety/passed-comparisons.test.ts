import assert from 'node:assert/strict';
import type { JsonObject } from '../patch/json-value.ts';
import { areSame, PassedComparisons } from './author-guard.ts';

describe('PassedComparisons', () => {
  const content: JsonObject = { spec: {} };
  const difference = { named: false };
  const passedWith = (...texts: string[]): PassedComparisons => {
    const passed = new PassedComparisons();
    passed.remember({ kind: 'without', contents: [content], texts, difference });
    return passed;
  };

  it('finds a comparison of the same contents and texts', () => {
    assert.equal(new PassedComparisons().find('without', [content], ['a']), undefined);
    assert.equal(passedWith('a').find('without', [content], ['a']), difference);
  });

  it('finds no other comparison', () => {
    const passed = passedWith('a');
    assert.equal(passed.find('counterpart', [content], ['a']), undefined);
    assert.equal(passed.find('without', [{ spec: {} }], ['a']), undefined);
    assert.equal(passed.find('without', [content, content], ['a']), undefined);
    assert.equal(passed.find('without', [content], ['b']), undefined);
    assert.equal(passed.find('without', [content], ['a', 'a']), undefined);
    assert.equal(passed.find('without', [], []), undefined);
  });

  it('limits the comparisons per content and the length of texts', () => {
    const passed = passedWith('0');
    for (let index = 1; index < 9; index += 1)
      passed.remember({ kind: 'without', contents: [content], texts: [String(index)], difference });
    assert.equal(passed.find('without', [content], ['0']), undefined);
    assert.equal(passed.find('without', [content], ['8']), difference);
    const long = ['x'.repeat(40_000), 'x'.repeat(40_000)];
    assert.equal(passedWith(...long).find('without', [content], long), undefined);
    passed.remember({ kind: 'without', contents: [], texts: ['a'], difference });
  });

  it('areSame compares complete texts', () => {
    const same = [areSame(['a', 'b'], ['a', 'b']), areSame(['a'], ['a', 'b']), areSame(['a'], ['A'])];
    assert.deepEqual(same, [true, false, false]);
  });
});
