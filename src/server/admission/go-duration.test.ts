import assert from 'node:assert/strict';
import { parseGoDuration } from './go-duration.ts';

describe('parseGoDuration', () => {
  for (const [text, milliseconds] of [
    ['5s', 5000],
    ['1m30s', 90_000],
    ['1.5s', 1500],
    ['500ms', 500],
    ['2h', 7_200_000],
    ['250us', 0.25],
    ['250µs', 0.25],
    ['1000000ns', 1],
    ['0s', undefined],
    ['', undefined],
    ['5', undefined],
    ['-5s', undefined],
    ['5 s', undefined],
    ['s', undefined],
    ['5x', undefined],
    [`${'1'.repeat(40)}s`, undefined],
  ] as const) {
    it(`${JSON.stringify(text)} is ${milliseconds ?? 'none'}`, () => {
      assert.equal(parseGoDuration(text), milliseconds);
    });
  }
});
