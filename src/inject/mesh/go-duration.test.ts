import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatProtoDuration, parseGoDuration } from './go-duration.ts';

describe('parseGoDuration', () => {
  const rows: [text: string, canonical: string][] = [
    ['45s', '45s'],
    ['1h30m', '5400s'],
    ['1.5s', '1.500s'],
    ['-1.5s', '-1.500s'],
    ['+2m', '120s'],
    ['250ms', '0.250s'],
    ['7us', '0.000007s'],
    ['7µs', '0.000007s'],
    ['3ns', '0.000000003s'],
    ['0', '0s'],
    ['.5m', '30s'],
    ['1.s', '1s'],
    ['0.1234567891h', '444.444440760s'],
    [`${'0'.repeat(98)}1s`, '1s'],
  ];
  for (const [text, canonical] of rows) {
    it(`reads ${text} as ${canonical}`, () => {
      assert.equal(formatProtoDuration(parseGoDuration(text)), canonical);
    });
  }

  const wrong: [text: string, message: string][] = [
    ['', 'time: invalid duration ""'],
    ['-', 'time: invalid duration "-"'],
    ['.s', 'time: invalid duration ".s"'],
    ['s', 'time: invalid duration "s"'],
    ['10', 'time: missing unit in duration "10"'],
    ['10d', 'time: unknown unit "d" in duration "10d"'],
    ['1constructor', 'time: unknown unit "constructor" in duration "1constructor"'],
    ['9999999999h', 'time: invalid duration "9999999999h"'],
    ['1.5', 'time: missing unit in duration "1.5"'],
    ['1h1', 'time: missing unit in duration "1h1"'],
    ['9223372036854775809', 'time: invalid duration "9223372036854775809"'],
    ['1µ\n"\\', 'time: unknown unit "\\xc2\\xb5\\x0a\\"\\\\" in duration "1\\xc2\\xb5\\x0a\\"\\\\"'],
    [`${'0'.repeat(100)}s`, 'a duration has at most 100 characters, this one has 101'],
    [`${'9'.repeat(52_000)}s`, 'a duration has at most 100 characters, this one has 52001'],
  ];
  for (const [text, message] of wrong) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseGoDuration(text), { message });
    });
  }

  it('parses the formatted duration', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (nanoseconds) => {
        const duration = { seconds: nanoseconds / 1_000_000_000n, nanos: Number(nanoseconds % 1_000_000_000n) };
        assert.deepEqual(parseGoDuration(formatProtoDuration(duration)), duration);
      }),
    );
  });
});
