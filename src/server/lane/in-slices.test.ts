import assert from 'node:assert/strict';
import type { Steps } from '../../template/steps.ts';
import { inSlices } from './in-slices.ts';

describe('inSlices', () => {
  it('lets others have a turn after each slice of work', async () => {
    let time = 0;
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const turnsAt: number[] = [];
    function* work(): Steps<string> {
      for (let step = 0; step < 12; step++) {
        turnsAt.push(turns);
        time += 1;
        yield;
      }
      return 'done';
    }
    const result = await inSlices(work(), () => time, { work: 3, pause: 20 });
    clearInterval(timer);
    assert.equal(result, 'done');
    const slices = [0, 3, 6, 9].map((start) => new Set(turnsAt.slice(start, start + 3)));
    assert.ok(
      slices.every(({ size }) => size === 1),
      `nobody in between: ${turnsAt.join()}`,
    );
    assert.equal(new Set(turnsAt).size, 4, `somebody between slices: ${turnsAt.join()}`);
  });

  it('fails as the work does', async () => {
    function* work(): Steps<void> {
      yield;
      throw new Error('broken');
    }
    await assert.rejects(
      inSlices(work(), () => 0),
      /broken/,
    );
  });
});
