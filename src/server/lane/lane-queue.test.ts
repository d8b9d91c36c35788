import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LaneQueue, type Waiting } from './lane-queue.ts';

const job = (bytes: number, isUrgent = false): Waiting => ({ bytes, isUrgent });
const drain = <Job extends Waiting>(queue: LaneQueue<Job>): Job[] => {
  const jobs: Job[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) jobs.push(next);
  return jobs;
};

describe('LaneQueue', () => {
  const wide = { maxWaiting: 10, maxWaitingBytes: 1000 };

  it('gives the urgent first, then the smallest, and of one size the one that came first', () => {
    const queue = new LaneQueue(wide);
    const jobs = [job(30), job(10), job(0, true), job(20), job(10), job(0, true)];
    for (const each of jobs) assert.deepEqual(queue.add(each), []);
    assert.deepEqual([queue.length, queue.bytes], [6, 70]);
    const order = drain(queue).map((each) => jobs.indexOf(each));
    assert.deepEqual(order, [2, 5, 1, 4, 3, 0]);
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

  it('refuses as many of the largest as bytes are missing, never what is urgent', () => {
    const queue = new LaneQueue({ ...wide, maxWaitingBytes: 100 });
    const [urgent, first, second, third] = [job(500, true), job(40), job(50), job(39)];
    for (const each of [urgent, first, second]) assert.deepEqual(queue.add(each), []);
    assert.deepEqual(queue.add(third), [second]);
    assert.equal(queue.bytes, 79);
  });

  it('keeps its bounds and loses nothing, whatever comes', () => {
    const jobs = fc.array(fc.record({ bytes: fc.nat(60), isUrgent: fc.boolean() }), { maxLength: 30 });
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
        assert.ok(given.filter(({ isUrgent }) => !isUrgent).length <= 5);
        assert.ok(refused.every(({ isUrgent }) => !isUrgent));
      }),
    );
  });
});
