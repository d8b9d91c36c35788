import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LaneQueue, type Waiting } from './lane-queue.ts';

const job = (bytes: number): Waiting => ({ bytes });
const drain = <Job extends Waiting>(queue: LaneQueue<Job>): Job[] => {
  const jobs: Job[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) jobs.push(next);
  return jobs;
};

describe('LaneQueue', () => {
  const wide = { maxWaiting: 10, maxWaitingBytes: 1000 };

  it('gives the smallest first, and of one size the one that came first', () => {
    const queue = new LaneQueue(wide);
    const jobs = [job(30), job(10), job(20), job(10)];
    for (const each of jobs) assert.deepEqual(queue.add(each), []);
    assert.deepEqual([queue.length, queue.bytes], [4, 70]);
    const order = drain(queue).map((each) => jobs.indexOf(each));
    assert.deepEqual(order, [1, 3, 2, 0]);
    assert.deepEqual([queue.length, queue.bytes, queue.next()], [0, 0, undefined]);
  });

  it('refuses the largest when there are too many', () => {
    const queue = new LaneQueue({ ...wide, maxWaiting: 2 });
    const [small, large, middle, newest] = [job(1), job(3), job(2), job(9)];
    queue.add(small);
    queue.add(large);
    assert.deepEqual(queue.add(middle), [large]);
    assert.deepEqual(queue.add(newest), [newest]);
    assert.deepEqual(drain(queue), [small, middle]);
  });

  it('refuses as many of the largest as bytes are missing', () => {
    const queue = new LaneQueue({ ...wide, maxWaitingBytes: 100 });
    const [first, second, third] = [job(40), job(50), job(39)];
    for (const each of [first, second]) assert.deepEqual(queue.add(each), []);
    assert.deepEqual(queue.add(third), [second]);
    assert.equal(queue.bytes, 79);
  });

  it('keeps its bounds and loses nothing, whatever comes', () => {
    const jobs = fc.array(fc.record({ bytes: fc.nat(60) }), { maxLength: 30 });
    fc.assert(
      fc.property(jobs, (all) => {
        const queue = new LaneQueue({ maxWaiting: 5, maxWaitingBytes: 100 });
        const refused: Waiting[] = [];
        for (const each of all) {
          refused.push(...queue.add(each));
          assert.ok(queue.bytes <= 100);
        }
        const given = drain(queue);
        assert.equal(given.length + refused.length, all.length);
        assert.ok(given.length <= 5);
      }),
    );
  });
});
