import assert from 'node:assert/strict';
import { nameForPeople } from './admission-decision.ts';
import { podCreation } from '../testdata/reviews.ts';

describe('nameForPeople', () => {
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
      assert.equal(nameForPeople(podCreation({ object })), name);
    });
  }

  it('prefers the name itself', () => {
    assert.equal(nameForPeople(podCreation({ name: 'mine' })), 'mine');
  });
});
