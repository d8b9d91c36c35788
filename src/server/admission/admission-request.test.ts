import assert from 'node:assert/strict';
import { displayName } from './admission-decision.ts';
import { podCreation } from '../testdata/reviews.ts';

describe('displayName', () => {
  for (const [what, object, name] of [
    ['the generateName', { metadata: { generateName: 'web-' } }, 'web-'],
    ['an empty name if there is no generateName', { metadata: {} }, ''],
    ['an empty name if the generateName is a number', { metadata: { generateName: 5 } }, ''],
    ['an empty name if the metadata is null', { metadata: null }, ''],
    ['an empty name if there is no metadata', {}, ''],
    ['an empty name if there is no object', null, ''],
    ['an empty name if the object is a string', 'pod', ''],
  ] as const) {
    it(`returns ${what}`, () => {
      assert.equal(displayName(podCreation({ object })), name);
    });
  }

  it('prefers the name', () => {
    assert.equal(displayName(podCreation({ name: 'mine' })), 'mine');
  });
});
