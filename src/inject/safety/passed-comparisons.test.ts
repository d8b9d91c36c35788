import assert from 'node:assert/strict';
import type { JsonObject } from '../patch/json-value.ts';
import { areSame, PassedComparisons } from './author-guard.ts';

describe('PassedComparisons', () => {
  const content: JsonObject = { spec: {} };
  const none = { named: false };

  it('knows a comparison of the same content with the same texts', () => {
    const passed = new PassedComparisons();
    assert.equal(passed.find('without', [content], ['a']), undefined);
    passed.remember('without', [content], ['a'], none);
    assert.equal(passed.find('without', [content], ['a']), none);
  });

  it('knows no other', () => {
    const passed = new PassedComparisons();
    passed.remember('without', [content], ['a'], none);
    assert.equal(passed.find('twin', [content], ['a']), undefined);
    assert.equal(passed.find('without', [{ spec: {} }], ['a']), undefined);
    assert.equal(passed.find('without', [content, content], ['a']), undefined);
    assert.equal(passed.find('without', [content], ['b']), undefined);
    assert.equal(passed.find('without', [content], ['a', 'a']), undefined);
    assert.equal(passed.find('without', [], []), undefined);
  });

  it('remembers some for a content, and nothing long', () => {
    const passed = new PassedComparisons();
    for (let index = 0; index < 9; index += 1) passed.remember('without', [content], [String(index)], none);
    assert.equal(passed.find('without', [content], ['0']), undefined);
    assert.equal(passed.find('without', [content], ['8']), none);
    const long = ['x'.repeat(40_000), 'x'.repeat(40_000)];
    passed.remember('without', [content], long, none);
    assert.equal(passed.find('without', [content], long), undefined);
    passed.remember('without', [], ['a'], none);
  });

  it('texts are the same to the last character', () => {
    assert.deepEqual(
      [areSame(['a', 'b'], ['a', 'b']), areSame(['a'], ['a', 'b']), areSame(['a'], ['A'])],
      [true, false, false],
    );
  });
});
