import assert from 'node:assert/strict';
import { otherNamespaces, shownNamespaces, usageFigures } from './usage-figures.ts';
import type { PodUsage } from './pod-usage.ts';
import type { PodCounts } from './judge-pod.ts';
import { noPods } from './usage-subject.ts';

function usage(namespaces: [string, Partial<PodCounts>][], totals: [string, string, Partial<PodCounts>][]): PodUsage {
  const whole = (counts: Partial<PodCounts>): PodCounts => ({ ...noPods(), ...counts });
  return {
    totals: () => totals.map(([injectorConfig, tag, counts]) => ({ injectorConfig, tag, counts: whole(counts) })),
    namespaces: () => namespaces.map(([name, counts]): [string, PodCounts] => [name, whole(counts)]),
  } as unknown as PodUsage;
}

describe('usageFigures', () => {
  it('returns the namespaces with the most stale and missing pods, and the sum of the rest', () => {
    const quiet = Array.from({ length: 150 }, (_, index): [string, Partial<PodCounts>] => [
      `n${String(index).padStart(3, '0')}`,
      { current: 2 },
    ]);
    const { namespaces } = usageFigures(usage([...quiet, ['busy', { stale: 1 }]], []), new Set());
    assert.equal(namespaces.length, shownNamespaces + 1);
    assert.deepEqual(namespaces[0], { namespace: 'busy', counts: { current: 0, stale: 1, missing: 0 } });
    assert.deepEqual(namespaces.at(-1), { namespace: otherNamespaces, counts: { current: 102, stale: 0, missing: 0 } });
  });

  it('does not name an InjectorConfig that only a pod names', () => {
    const invented: [string, string, object][] = ['x', 'y'].map((name, index) => [name, '', { stale: index + 1 }]);
    const { pods } = usageFigures(usage([], [['a', 'prod', { current: 1 }], ...invented]), new Set(['a']));
    assert.deepEqual(pods, [
      { injectorConfig: 'a', tag: 'prod', counts: { current: 1, stale: 0, missing: 0 } },
      { injectorConfig: '', tag: '', counts: { current: 0, stale: 3, missing: 0 } },
    ]);
  });
});
