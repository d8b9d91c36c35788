import assert from 'node:assert/strict';
import { rankOf } from '../../routing/workload-key.ts';
import { RecentWorkloads } from './recent-workloads.ts';

describe('RecentWorkloads', () => {
  const workload = (name: string) => ({ namespace: 'shop', kind: 'Deployment', name });
  const rank = (name: string): string => rankOf('prod', workload(name));
  const present = (name: string, pods = 1) => ({ rank: rank(name), namespace: 'shop', pods });

  it('counts a workload for a minute after its last pod, separately for each tag', () => {
    let now = 0;
    const recent = new RecentWorkloads({ monotonic: () => now });
    const none = (): boolean => false;
    assert.deepEqual(recent.withGone('prod', [present('a'), present('b')], none), [present('a'), present('b')]);
    recent.left('prod', workload('a'));
    now = 1000;
    assert.deepEqual(recent.withGone('prod', [present('b')], none), [present('b'), present('a', 0)]);
    assert.deepEqual(recent.withGone('test', [present('b')], none), [present('b')]);
    assert.deepEqual(
      recent.withGone('prod', [present('a'), present('b')], none),
      [present('a'), present('b')],
      'a is back',
    );
    recent.left('prod', workload('b'));
    now = 59_999;
    assert.deepEqual(recent.withGone('prod', [], none), [present('a', 0), present('b', 0)]);
    now = 60_000;
    assert.deepEqual(recent.withGone('prod', [], none), [present('b', 0)]);
    recent.left('prod', workload('b'));
    now = 119_999;
    assert.deepEqual(recent.withGone('prod', [], none), [present('b', 0)], 'the minute starts at the last removal');
    recent.forget('prod');
    assert.deepEqual(recent.withGone('prod', [], none), []);
  });

  it('does not count a workload whose namespace is being deleted', () => {
    const leaving = new Set<string>();
    const recent = new RecentWorkloads({ monotonic: () => 0 });
    const withGone = () => recent.withGone('prod', [], (namespace) => leaving.has(namespace));
    recent.left('prod', workload('a'));
    recent.left('prod', { ...workload('b'), namespace: 'old' });
    assert.equal(withGone().length, 2);
    leaving.add('old');
    assert.deepEqual(withGone(), [present('a', 0)]);
  });
});
