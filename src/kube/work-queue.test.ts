import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ManualClock } from './testdata/manual-clock.ts';
import { WorkQueue } from './work-queue.ts';

function setUp(options = {}) {
  const clock = new ManualClock();
  return { clock, queue: new WorkQueue({ clock, ...options }) };
}

/** Takes all ready keys, without marking them done. */
async function drain(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.length > 0) keys.push((await queue.take())!);
  return keys;
}

describe('WorkQueue', () => {
  it('hands out each key once and in order, including to a pending take', async () => {
    const { queue } = setUp();
    const taken = queue.take();
    for (const key of ['first', 'a', 'b', 'a', 'c', 'b']) queue.add(key);
    assert.equal(await taken, 'first');
    assert.equal(queue.length, 3);
    assert.deepEqual(await drain(queue), ['a', 'b', 'c']);
  });

  it('hands out a key again after done if the key was added during its processing', async () => {
    const { queue } = setUp();
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    assert.equal(queue.length, 0);
    queue.done('a');
    assert.deepEqual(await drain(queue), ['a']);
    queue.done('a');
    assert.equal(queue.length, 0);
  });

  it('delays keys with addAfter; the earliest of several times counts', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 1000);
    queue.addAfter('a', 200);
    queue.addAfter('a', 500);
    await clock.advance(199);
    assert.equal(queue.length, 0);
    await clock.advance(1);
    assert.deepEqual(await drain(queue), ['a']);
    queue.done('a');
    await clock.advance(10_000);
    assert.equal(queue.length, 0);
    queue.addAfter('a', 0);
    assert.equal(queue.length, 1);
  });

  it('backs off per key from 5 ms to 1000 s, and resets after success', async () => {
    const { clock, queue } = setUp({ burst: 1000 });
    const delays: number[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      delays.push(queue.addRateLimited('a'));
      await clock.advance(delays.at(-1)!);
    }
    assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
    assert.equal(delays.at(-1), 1_000_000);
    assert.equal(queue.addRateLimited('b'), 5);
    queue.forget('a');
    assert.equal(queue.addRateLimited('a'), 5);
    queue.forgetAll();
    assert.equal(queue.addRateLimited('b'), 5);
  });

  it('does not count a failure before the back-off has ended', async () => {
    const { clock, queue } = setUp();
    assert.equal(queue.addRateLimited('a'), 5);
    await clock.advance(5);
    assert.equal(queue.addRateLimited('a'), 10);
    for (let events = 0; events < 7; events += 1) {
      await clock.advance(1);
      assert.equal(queue.addRateLimited('a'), 9 - events);
    }
    await clock.advance(3);
    assert.equal(queue.addRateLimited('a'), 20);
    queue.forget('a');
    assert.equal(queue.addRateLimited('a'), 5, 'the back-off restarts after a success');
    queue.forgetAll();
    assert.equal(queue.addRateLimited('a'), 5, 'the back-off restarts after an outage');
  });

  it('limits the rate of retries over all keys after a burst', async () => {
    const { clock, queue } = setUp({ burst: 3 });
    const delays = ['a', 'b', 'c', 'd', 'e'].map((key) => queue.addRateLimited(key));
    assert.deepEqual(delays, [5, 5, 5, 100, 200]);
    await clock.advance(10_000);
    assert.equal(queue.addRateLimited('f'), 5);
  });

  it('waits at least as long as the caller requires', () => {
    const { queue } = setUp();
    assert.equal(queue.addRateLimited('a', 3000), 3000);
  });

  it('drops everything and ends pending takes when stopped', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('later', 10);
    const taken = queue.take();
    queue.stop();
    assert.equal(await taken, undefined);
    assert.equal(await queue.take(), undefined);
    queue.add('a');
    queue.addAfter('b', 1);
    await clock.advance(100);
    assert.equal(queue.length, 0);
  });

  it('never hands out a key during its processing, and loses no key', async () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ later: fc.constantFrom('a', 'b', 'c'), ms: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ wait: fc.integer({ min: 1, max: 60 }) }),
      fc.constant({ take: true }),
      fc.constant({ done: true }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, queue } = setUp();
        const busy: string[] = [];
        // Keys that must still be handed out, each with the time from which it is due.
        let due: { key: string; at: number }[] = [];
        for (const each of steps) {
          const now = clock.monotonic();
          if ('add' in each) {
            queue.add(each.add);
            due.push({ key: each.add, at: now });
          } else if ('later' in each) {
            queue.addAfter(each.later, each.ms);
            const waiting = due.find((one) => one.key === each.later && one.at > now);
            if (waiting === undefined) due.push({ key: each.later, at: now + each.ms });
            else waiting.at = Math.min(waiting.at, now + each.ms);
          } else if ('wait' in each) await clock.advance(each.wait);
          else if ('take' in each && queue.length > 0) {
            const key = (await queue.take())!;
            assert.ok(!busy.includes(key), `${key} is handed out twice`);
            busy.push(key);
            due = due.filter((one) => one.key !== key || one.at > now);
          } else if ('done' in each) {
            const key = busy.shift();
            if (key !== undefined) queue.done(key);
          }
        }
        for (const key of busy) queue.done(key);
        await clock.advance(1000);
        const remaining = await drain(queue);
        assert.equal(new Set(remaining).size, remaining.length);
        for (const { key } of due) assert.ok(remaining.includes(key), `${key} is lost`);
      }),
      { numRuns: 150 },
    );
  });
});
