import assert from 'node:assert/strict';
import fc from 'fast-check';
import { atOnce, inOrder } from './restart-steps.ts';

describe('inOrder', () => {
  it('sorts by key, and leaves what is equal in its order, however many there are', () => {
    const items = fc.array(fc.constantFrom('a', 'b', 'c', 'aa', 'B', 'é'), { maxLength: 2000, size: 'max' });
    fc.assert(
      fc.property(items, (keys) => {
        const given = keys.map((key, index) => ({ key, index }));
        const expected = [...given].sort((one, other) =>
          one.key === other.key ? one.index - other.index : one.key < other.key ? -1 : 1,
        );
        assert.deepEqual(atOnce(inOrder(given)), expected);
      }),
      { numRuns: 50 },
    );
  });

  it('does so in steps, none of which goes through all of them', () => {
    const steps = inOrder(Array.from({ length: 10_000 }, (_, index) => ({ key: String((index * 7919) % 10_000) })));
    let count = 0;
    while (steps.next().done !== true) count += 1;
    assert.ok(count > 40, `${count} steps`);
  });
});
