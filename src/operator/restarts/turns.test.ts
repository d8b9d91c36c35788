import assert from 'node:assert/strict';
import type { Steps } from '../../rollout/restart-steps.ts';
import { Turns } from './turns.ts';

describe('Turns', () => {
  /** Steps of a millisecond each, on a clock that only they move. */
  const setUp = () => {
    let time = 0;
    const ends: number[] = [];
    function* work(count: number): Steps<string> {
      for (let step = 0; step < count; step += 1) {
        time += 1;
        ends.push(time);
        yield;
      }
      return 'done';
    }
    return { turns: new Turns({ monotonic: () => time }), work, ends };
  };

  it('lets others have their turn every few milliseconds', async () => {
    const { turns, work, ends } = setUp();
    const seen: number[] = [];
    let isOver = false;
    const other = (): void => {
      seen.push(ends.length);
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    assert.equal(await turns.run(work(20)), 'done');
    isOver = true;
    const gaps = seen.map((count, index) => count - (seen[index - 1] ?? 0));
    assert.ok(gaps.length >= 4 && Math.max(...gaps) <= 4, `steps between two turns of others: ${gaps.join()}`);
  });

  it('sums up what the steps have taken', async () => {
    const { turns, work } = setUp();
    await turns.run(work(10));
    await turns.run(work(5));
    assert.equal(turns.spent, 15);
  });
});
