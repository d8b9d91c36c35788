import assert from 'node:assert/strict';
import fc from 'fast-check';
import { countBelow, thresholdFor } from './threshold.ts';
import { everyWorkload, noWorkload } from './workload-key.ts';

const hex = (value: bigint): string => value.toString(16).padStart(16, '0');
// Omit the two highest ranks, which no threshold below 100 percent can separate.
const rank = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(0n, (1n << 64n) - 3n).map(hex) },
  { weight: 1, arbitrary: fc.bigInt(0n, 9n).map(hex) },
  { weight: 1, arbitrary: fc.bigInt((1n << 64n) - 12n, (1n << 64n) - 3n).map(hex) },
);
const ranks = fc.uniqueArray(rank, { maxLength: 250 });
const weight = fc.integer({ min: 0, max: 100 });

describe('thresholdFor', () => {
  it('includes exactly the share, rounded up', () => {
    fc.assert(
      fc.property(ranks, weight, (known, percent) => {
        const threshold = thresholdFor(known, percent, noWorkload);
        assert.match(threshold, /^[0-9a-f]{16}$/);
        assert.equal(countBelow(known, threshold), Math.ceil((known.length * percent) / 100));
      }),
      { numRuns: 500 },
    );
  });

  it('ignores the order and repetitions of workloads', () => {
    fc.assert(
      fc.property(ranks, weight, (known, percent) => {
        const shuffled = [...known, ...known.slice(0, 3)].reverse();
        assert.equal(thresholdFor(shuffled, percent, noWorkload), thresholdFor(known, percent, noWorkload));
      }),
    );
  });

  it('never shrinks, and grows with the weight', () => {
    fc.assert(
      fc.property(ranks, ranks, weight, weight, (known, later, a, b) => {
        const [smaller, larger] = a < b ? [a, b] : [b, a];
        const before = thresholdFor(known, smaller, noWorkload);
        assert.ok(thresholdFor(later, larger, before) >= before);
        assert.ok(thresholdFor(known, larger, noWorkload) >= before);
      }),
    );
  });

  for (const [known, percent, included] of [
    [1, 1, 1],
    [1, 99, 1],
    [2, 5, 1],
    [2, 50, 1],
    [2, 51, 2],
    [7, 5, 1],
    [7, 25, 2],
    [7, 50, 4],
    [200, 5, 10],
    [201, 5, 11],
    [200, 0, 0],
    [200, 100, 200],
  ] as const) {
    it(`includes ${included} of ${known} workloads at ${percent} percent`, () => {
      const all = Array.from({ length: known }, (_, index) => hex(((1n << 64n) * BigInt(index)) / BigInt(known)));
      assert.equal(countBelow(all, thresholdFor(all, percent, noWorkload)), included);
    });
  }

  it('is noWorkload at weight 0 and everyWorkload at weight 100, for any workloads', () => {
    fc.assert(
      fc.property(ranks, (known) => {
        assert.equal(thresholdFor(known, 0, noWorkload), noWorkload);
        assert.equal(thresholdFor(known, 100, noWorkload), everyWorkload);
      }),
    );
  });

  it('is the share of all possible ranks when the known workloads allow it', () => {
    const quarter = '3fffffffffffffff';
    assert.equal(thresholdFor([], 25, noWorkload), quarter);
    assert.equal(thresholdFor([hex(1n), 'f'.padEnd(16, '0')], 25, noWorkload), quarter);
  });

  it('is as near to the share of all possible ranks as the known workloads allow', () => {
    // The share is two of four workloads, which all have low (high) ranks.
    const low = [1n, 2n, 3n, 4n].map(hex);
    assert.equal(thresholdFor(low, 50, noWorkload), hex(3n));
    const high = ['c', 'd', 'e', 'f'].map((digit) => digit.padEnd(16, '0'));
    assert.equal(thresholdFor(high, 50, noWorkload), 'd000000000000001');
  });

  it('includes the highest possible rank when it is the only one', () => {
    assert.equal(thresholdFor([everyWorkload], 5, noWorkload), everyWorkload);
    assert.equal(countBelow([everyWorkload], thresholdFor([everyWorkload], 5, noWorkload)), 1);
  });
});
