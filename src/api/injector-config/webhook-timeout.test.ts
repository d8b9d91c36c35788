import assert from 'node:assert/strict';
import { timeoutSecondsOf } from './webhook-timeout.ts';

describe('timeoutSecondsOf', () => {
  const rows = [
    ['Fail', undefined, 10],
    ['Ignore', undefined, 10],
    ['Hold', undefined, 3],
    ['Hold', 7, 7],
    ['Fail', 1, 1],
  ] as const;
  for (const [failurePolicy, given, expected] of rows) {
    it(`is ${expected} for ${failurePolicy} and timeoutSeconds ${given ?? 'unset'}`, () => {
      const webhook = { failurePolicy, ...(given === undefined ? {} : { timeoutSeconds: given }) };
      assert.equal(timeoutSecondsOf(webhook), expected);
    });
  }
});
