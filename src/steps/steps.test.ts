import assert from 'node:assert/strict';
import { atOnce, type Steps } from './steps.ts';

describe('atOnce', () => {
  it('runs every step and returns the result', () => {
    const done: number[] = [];
    function* work(): Steps<string> {
      for (let index = 0; index < 3; index += 1) {
        done.push(index);
        yield;
      }
      return 'all';
    }
    assert.equal(atOnce(work()), 'all');
    assert.deepEqual(done, [0, 1, 2]);
  });
});
