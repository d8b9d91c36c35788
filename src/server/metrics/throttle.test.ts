import assert from 'node:assert/strict';
import { throttle } from './throttle.ts';

describe('throttle', () => {
  it('lets so many through in each second, and tells the next one how many it held back', () => {
    let now = 5_500;
    const allowance = throttle(() => now, 2);
    assert.deepEqual([allowance(), allowance(), allowance(), allowance()], [0, 0, undefined, undefined]);
    now = 5_999;
    assert.equal(allowance(), undefined);
    now = 6_000;
    assert.deepEqual([allowance(), allowance(), allowance()], [3, 0, undefined]);
    now = 60_000;
    assert.deepEqual([allowance(), allowance()], [1, 0]);
  });
});
