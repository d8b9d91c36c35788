import assert from 'node:assert/strict';
import { inSlices } from './in-slices.ts';

/** Runs steps of 1 ms of a fake clock; other work takes `others` ms of every turn. */
async function share(others: number): Promise<number[]> {
  let time = 0;
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    time += others;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const turnsAt: number[] = [];
  function* work(): Generator<void, string, void> {
    for (let step = 0; step < 12; step++) {
      turnsAt.push(turns);
      time += 1;
      yield;
    }
    return 'done';
  }
  assert.equal(await inSlices(work(), () => time, { work: 3, busy: 0.5, patience: 10, rest: 0, lately: 0 }), 'done');
  isOver = true;
  return [0, 3, 6, 9].map((start) => {
    const slice = new Set(turnsAt.slice(start, start + 3));
    assert.equal(slice.size, 1, `other work in the middle of a slice: ${turnsAt.join()}`);
    return [...slice][0] ?? 0;
  });
}

describe('inSlices', () => {
  it('lets the event loop turn once after each slice if other work is short', async () => {
    const [first = 0, ...rest] = await share(0);
    assert.deepEqual(rest, [first + 1, first + 2, first + 3]);
  });

  it('lets the event loop turn more often if other work is long', async () => {
    const turns = await share(1);
    for (const [index, turn] of turns.entries()) {
      const before = turns[index - 1];
      assert.ok(before === undefined || turn - before === 10, `turns at the slices: ${turns.join()}`);
    }
  });

  it('rests in proportion to its slices, but only while there is other work', async () => {
    let time = 0;
    let others = 1;
    let isOver = false;
    const turn = (): void => {
      time += others;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const pauses: number[] = [];
    function* work(): Generator<void, void, void> {
      for (let step = 0; step < 20; step++) {
        // A step can be longer than a slice.
        time += step === 4 ? 7 : 2;
        if (step === 9) others = 0;
        yield;
      }
    }
    const slices = { work: 2, busy: 0.5, patience: 50, rest: 4, lately: 20 };
    await inSlices(work(), () => time, slices, {
      pause: (milliseconds) => {
        pauses.push(milliseconds);
        time += milliseconds;
        // The other work ends.
        others = 0;
        if (pauses.length < 9) setImmediate(() => (others = 1));
        return Promise.resolve();
      },
    });
    isOver = true;
    assert.deepEqual(pauses.slice(0, 6), [8, 8, 8, 8, 28, 8]);
    assert.ok(pauses.length < 15, `${pauses.length} pauses`);
  });

  it('tells the duration of every slice', async () => {
    let time = 0;
    const order: string[] = [];
    function* work(): Generator<void, void, void> {
      for (let step = 0; step < 4; step++) {
        order.push(`step ${step}`);
        time += 1;
        yield;
      }
    }
    const slices = { work: 2, busy: 0.5, patience: 50, rest: 0, lately: 0 };
    await inSlices(work(), () => time, slices, { afterSlice: (ms) => order.push(`${ms} ms`) });
    assert.deepEqual(order, ['step 0', 'step 1', '2 ms', 'step 2', 'step 3', '2 ms', '0 ms']);
  });

  it('rejects with the error of the work', async () => {
    function* work(): Generator<void, void, void> {
      yield;
      throw new Error('broken');
    }
    const failing = inSlices(work(), () => 0);
    await assert.rejects(failing, /broken/);
  });
});
