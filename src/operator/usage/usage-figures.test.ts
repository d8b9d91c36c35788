import assert from 'node:assert/strict';
import { noPods, type PodCounts } from './judge-pod.ts';
import type { PodTotals } from './pod-usage.ts';
import { otherNamespaces, shownNamespaces, usageFigures } from './usage-figures.ts';

const total = (injectorConfig: string, tag: string, counts: Partial<PodCounts>): PodTotals => {
  return { injectorConfig, tag, counts: { ...noPods(), ...counts } };
};

describe('usageFigures', () => {
  it('returns the namespaces with the most stale and missing pods, and the sum of the rest', () => {
    const quiet = Array.from({ length: 150 }, (_, index) => {
      return [
        `n${String(index).padStart(3, '0')}`,
        [total('a', '', { current: 2 })],
        { ...noPods(), current: 2 },
      ] as const;
    });
    const busy = ['busy', [total('a', '', { stale: 1 })], { ...noPods(), stale: 1 }] as const;
    const { namespaces } = usageFigures([...quiet, busy, ['empty', [], noPods()]], () => true);
    assert.equal(namespaces.length, shownNamespaces + 1);
    assert.deepEqual(namespaces[0], { namespace: 'busy', counts: { current: 0, stale: 1, missing: 0 } });
    assert.deepEqual(namespaces.at(-1), { namespace: otherNamespaces, counts: { current: 102, stale: 0, missing: 0 } });
  });

  it('does not name an InjectorConfig that only a pod names', () => {
    const shop = ['shop', [total('a', 'prod', { current: 1 }), total('x', '', { stale: 1 })], noPods()] as const;
    const { pods } = usageFigures([shop, ['bank', [total('y', '', { stale: 2 })], noPods()]], (name) => name === 'a');
    assert.deepEqual(pods, [
      { injectorConfig: 'a', tag: 'prod', counts: { current: 1, stale: 0, missing: 0 } },
      { injectorConfig: '', tag: '', counts: { current: 0, stale: 3, missing: 0 } },
    ]);
  });
});
