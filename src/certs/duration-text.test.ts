import assert from 'node:assert/strict';
import { durationText } from './duration-text.ts';

describe('durationText', () => {
  const table: [number, string][] = [
    [604_800_000, '168h'],
    [5_400_000, '90m'],
    [61_000, '61s'],
    [1500, '1.5s'],
    [0, '0s'],
    [-3_600_000, '-1h'],
    [NaN, 'NaNs'],
    [Infinity, 'Infinitys'],
  ];
  for (const [milliseconds, text] of table) {
    it(`writes ${text}`, () => {
      assert.equal(durationText(milliseconds), text);
    });
  }
});
