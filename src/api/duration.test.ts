import assert from 'node:assert/strict';
import { durationMilliseconds } from './duration.ts';

describe('durationMilliseconds', () => {
  for (const [text, expected] of [
    ['168h', 604_800_000],
    ['1h30m', 5_400_000],
    ['1h0m5s', 3_605_000],
    ['90s', 90_000],
    ['0m', 0],
  ] as const) {
    it(`converts ${text} to ${expected} ms`, () => {
      assert.equal(durationMilliseconds(text), expected);
    });
  }
});
