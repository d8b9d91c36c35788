import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatDuration, parseDuration } from './go-duration.ts';

describe('durations', () => {
  const texts: readonly (readonly [bigint, string])[] = [
    [0n, '0s'],
    [1n, '1ns'],
    [1500n, '1.5µs'],
    [-2_000_000n, '-2ms'],
    [1_000_000_001n, '1.000000001s'],
    [61_000_000_000n, '1m1s'],
    [3_600_000_000_000n, '1h0m0s'],
  ];
  for (const [nanoseconds, text] of texts) {
    it(`are formatted as in Go: ${text}`, () => {
      assert.equal(formatDuration(nanoseconds), text);
    });
  }

  it('are parsed from their formatted text', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (nanoseconds) => {
        assert.equal(parseDuration(formatDuration(nanoseconds)), nanoseconds);
      }),
    );
  });

  for (const text of ['', 'x', '1', '1d', '.s', '1h1', '9223372036854775808ns']) {
    it(`fail to parse: ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseDuration(text), /^Error: time: /);
    });
  }
});
