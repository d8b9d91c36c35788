import assert from 'node:assert/strict';
import { inOneUnit, fromNow, placeOf, ticks } from './time-line.ts';

const day = 24 * 3_600_000;

describe('the time line', () => {
  it('goes from now to the latest time, and keeps the order', () => {
    const places = ticks.map(({ ahead }) => placeOf(ahead, 3653 * day));
    assert.deepEqual([places[0], places.at(-1)], [0, 1]);
    for (const [index, place] of places.entries()) assert.ok(index === 0 || place - (places[index - 1] ?? 0) > 0.08);
    assert.deepEqual([placeOf(-day, day), placeOf(9 * day, day), placeOf(0, 0)], [0, 1, 0]);
  });

  it('says durations in one unit', () => {
    const texts = [0, 119_000, 7_199_000, 47 * 3_600_000, 6.9 * day, -1].map(inOneUnit);
    assert.deepEqual(texts, ['0 s', '119 s', '119 min', '47 h', '6 d', '0 s']);
    assert.deepEqual([fromNow(3 * day, 0), fromNow(0, 3 * day)], ['in 3 d', '3 d ago']);
  });
});
