import assert from 'node:assert/strict';
import { displayName } from './admission-decision.ts';
import { podCreation } from '../testdata/reviews.ts';

describe('displayName', () => {
  for (const [what, object, name] of [
    ['a prefix', { metadata: { generateName: 'web-' } }, 'web-'],
    ['nothing', { metadata: {} }, ''],
    ['a prefix that is none', { metadata: { generateName: 5 } }, ''],
    ['metadata that is null', { metadata: null }, ''],
    ['no metadata', {}, ''],
    ['no object', null, ''],
    ['an object that is none', 'pod', ''],
  ] as const) {
    it(`finds ${what}`, () => {
      assert.equal(displayName(podCreation({ object })), name);
    });
  }

  it('prefers the name itself', () => {
    assert.equal(displayName(podCreation({ name: 'mine' })), 'mine');
  });
});
