import assert from 'node:assert/strict';
import { RecentWorkloads } from './recent-workloads.ts';

describe('RecentWorkloads', () => {
  it('counts a workload for a minute after its last pod, by tag', () => {
    const recent = new RecentWorkloads();
    const [one, two] = [
      { rank: 'a', pods: 2 },
      { rank: 'b', pods: 1 },
    ];
    assert.deepEqual(recent.with('prod', [one, two], 0), [one, two]);
    assert.deepEqual(recent.with('prod', [two], 1000), [two, { rank: 'a', pods: 0 }]);
    assert.deepEqual(recent.with('test', [two], 1000), [two]);
    assert.deepEqual(recent.with('prod', [one], 59_999), [one, { rank: 'b', pods: 0 }]);
    assert.deepEqual(recent.with('prod', [one], 60_999), [one, { rank: 'b', pods: 0 }]);
    assert.deepEqual(recent.with('prod', [one], 61_000), [one]);
    recent.forget('prod');
    assert.deepEqual(recent.with('prod', [], 61_001), []);
  });
});
