import assert from 'node:assert/strict';
import { ManualClock } from '../../kube/testdata/manual-clock.ts';
import { ConflictMemory } from './conflict-memory.ts';

describe('ConflictMemory', () => {
  it('holds for a minute after the last field was taken back, and names who and what', async () => {
    const clock = new ManualClock();
    const memory = new ConflictMemory(clock);
    assert.equal(memory.observe('blue', []).finding.status, 'False');
    const first = memory.observe('blue', [{ manager: 'b', field: '.x' }]);
    assert.deepEqual(first, {
      finding: {
        status: 'True',
        reason: 'ForeignManager',
        message: 'b also writes .x; each object is taken back at most once a second',
      },
      again: 60_000,
    });
    await clock.advance(30_000);
    assert.match(memory.observe('blue', [{ manager: 'a', field: '.x' }]).finding.message, /^a, b also writes \.x;/);
    assert.equal(memory.observe('green', []).finding.status, 'False');
    await clock.advance(59_999);
    assert.deepEqual([memory.observe('blue', []).finding.status, memory.observe('blue', []).again], ['True', 1]);
    await clock.advance(1);
    assert.deepEqual(memory.observe('blue', []).finding.status, 'False');
  });

  it('names a few of many', () => {
    const memory = new ConflictMemory(new ManualClock());
    const fields = Array.from({ length: 8 }, (_, index) => ({ manager: 'm', field: `.f${index}` }));
    const message = memory.observe('blue', fields).finding.message;
    assert.match(message, /^m also writes \.f0, \.f1, \.f2, \.f3, \.f4 and 3 more;/);
    memory.forget('blue');
    assert.equal(memory.observe('blue', []).finding.status, 'False');
  });
});
