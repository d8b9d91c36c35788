import assert from 'node:assert/strict';
import { displayName } from './admission-decision.ts';
import { podCreation } from '../testdata/reviews.ts';

describe('displayName', () => {
  for (const [what, object, name] of [
    ['a generateName', { metadata: { generateName: 'web-' } }, 'web-'],
    ['nothing', { metadata: {} }, ''],
    ['no generateName of type number', { metadata: { generateName: 5 } }, ''],
    ['nothing in null metadata', { metadata: null }, ''],
    ['nothing without metadata', {}, ''],
    ['nothing without an object', null, ''],
    ['nothing in a string', 'pod', ''],
  ] as const) {
    it(`finds ${what}`, () => {
      assert.equal(displayName(podCreation({ object })), name);
    });
  }

  it('prefers the name', () => {
    assert.equal(displayName(podCreation({ name: 'mine' })), 'mine');
  });
});
