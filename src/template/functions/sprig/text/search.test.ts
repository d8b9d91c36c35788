import assert from 'node:assert/strict';
import fc from 'fast-check';
import { includesPart, splitAt } from './strings.ts';

describe('text search', () => {
  const few = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
    fc.array(fc.constantFrom('a', 'b'), { minLength, maxLength }).map((letters) => letters.join(''));

  it('returns the same results as JavaScript for parts of any length', () => {
    fc.assert(
      fc.property(few(1, 80), few(0, 20), fc.integer({ min: 0, max: 4 }), (part, between, times) => {
        const text = Array.from({ length: times + 1 }, () => between).join(part) + between;
        assert.deepEqual(splitAt(text, part), text.split(part));
        assert.equal(includesPart(text, part), text.includes(part));
      }),
    );
  });

  it('finds nothing if the part is longer than the text', () => {
    assert.deepEqual(splitAt('aaa', 'a'.repeat(40)), ['aaa']);
    assert.equal(includesPart('aaa', 'a'.repeat(40)), false);
  });
});
