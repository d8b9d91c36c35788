import assert from 'node:assert/strict';
import { FailedInjections } from './failed-injections.ts';

describe('FailedInjections', () => {
  const first = { startedAt: '2026-06-01T00:00:00Z', injectionErrors: 0 };

  it('counts by how much the sum of the replicas grows', () => {
    const failed = new FailedInjections();
    const counts = [7, 7, 9, 10].map((reported) => failed.since('prod', first, reported));
    assert.deepEqual(counts, [0, 0, 2, 3]);
  });

  it('takes a smaller sum for a replica that is gone', () => {
    const failed = new FailedInjections();
    const counts = [5, 8, 2, 4].map((reported) => failed.since('prod', first, reported));
    assert.deepEqual(counts, [0, 3, 3, 5]);
  });

  it('begins anew with each rollout and each tag, and goes on from the status in a new process', () => {
    const failed = new FailedInjections();
    assert.equal(failed.since('prod', undefined, 4), 0);
    assert.equal(failed.since('prod', first, 6), 0);
    assert.equal(failed.since('prod', first, 7), 1);
    assert.equal(failed.since('test', first, 7), 0);
    assert.equal(failed.since('prod', { ...first, startedAt: '2026-06-02T00:00:00Z' }, 9), 0);
    assert.equal(new FailedInjections().since('prod', { ...first, injectionErrors: 3 }, 9), 3);
  });
});
