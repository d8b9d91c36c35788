import assert from 'node:assert/strict';
import { defaultRestRules, LoadPace } from './load-pace.ts';

const rules = { rest: 4, burst: 10, longRest: 16, recovery: 0.05 };

/** So many slices of 2 ms, one as soon as the rest after the one before is over, from a time on; what each rested, as a multiple of the slice. */
function slices(pace: LoadPace, count: number, start = 0): { rests: number[]; end: number } {
  let now = start;
  const rests = Array.from({ length: count }, () => {
    const rest = pace.restAfter(2, (now += 2));
    now += rest;
    return rest / 2;
  });
  return { rests, end: now };
}

describe('LoadPace', () => {
  it('rests little for a while, and long when there is no end', () => {
    const { rests } = slices(new LoadPace(rules), 40);
    const quick = rests.indexOf(16);
    assert.ok(quick >= 5 && quick < 9, `${quick} slices before the first long rest`);
    assert.deepEqual(new Set(rests.slice(0, quick)), new Set([4]));
    assert.deepEqual(new Set(rests.slice(quick)), new Set([16]));
  });

  it('rests little again when time has passed', () => {
    const pace = new LoadPace(rules);
    const { end } = slices(pace, 40);
    assert.deepEqual(slices(pace, 3, end + 400).rests, [4, 4, 4]);
  });

  it('takes no longer over a change a second than over the first', () => {
    const pace = new LoadPace(defaultRestRules);
    const all = Array.from({ length: 30 }, (_, second) => slices(pace, 18, second * 1000).rests).flat();
    assert.deepEqual(new Set(all), new Set([4]));
  });
});
