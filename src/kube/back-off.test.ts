import assert from 'node:assert/strict';
import { BackOff } from './back-off.ts';

describe('BackOff', () => {
  it('doubles from the base to the maximum, separately for each key', () => {
    const backOff = new BackOff({ baseMs: 5, maximumMs: 30 });
    for (const delay of [5, 10, 20, 30, 30]) assert.equal(backOff.next('a'), delay);
    assert.equal(backOff.next('b'), 5);
  });

  it('starts again at the base after forget and forgetAll', () => {
    const backOff = new BackOff({ baseMs: 5, maximumMs: 1000 });
    for (const key of ['a', 'a', 'b', 'b']) backOff.next(key);
    assert.deepEqual([backOff.forget('a'), backOff.forget('c')], [true, false]);
    assert.deepEqual([backOff.next('a'), backOff.next('b')], [5, 20]);
    backOff.forgetAll();
    assert.deepEqual([backOff.next('a'), backOff.next('b')], [5, 5]);
  });

  it('stays at the maximum after thousands of failures', () => {
    const backOff = new BackOff({ baseMs: 5, maximumMs: 1_000_000 });
    for (let index = 0; index < 5000; index += 1) backOff.next('a');
    assert.equal(backOff.next('a'), 1_000_000);
  });

  it('draws each delay between 50% and 100% of the nominal delay', () => {
    const delays = [0, 0.5, 1].map((value) =>
      new BackOff({ baseMs: 100, maximumMs: 1000, random: () => value }).next('a'),
    );
    assert.deepEqual(delays, [50, 75, 100]);
  });
});
