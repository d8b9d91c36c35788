import assert from 'node:assert/strict';
import type { DashboardWorkload } from '../api/dashboard-reports.ts';
import { filterRows, rowsOf, windowOf, type WorkloadState } from './workload-rows.ts';

const workload = (name: string, more: Partial<DashboardWorkload> = {}): DashboardWorkload => ({
  ...{ namespace: 'shop', workload: `Deployment/${name}`, injectorConfig: '1-24', current: 1, stale: 0, missing: 0 },
  ...{ held: 0, causes: [] },
  ...more,
});

const rows = rowsOf([
  workload('web'),
  workload('api', { tag: 'prod', stale: 2, causes: ['1-25 would inject a new pod'] }),
  workload('cart', { missing: 1 }),
  workload('queue', { missing: 3, held: 3 }),
  workload('old', { missing: 3, held: 1, refused: 'Quota exceeded', stale: 1 }),
]);
const names = (search: string, state?: WorkloadState): string =>
  filterRows(rows, search, state)
    .map((row) => row.workload.slice('Deployment/'.length))
    .join();

describe('the rows of workloads', () => {
  it('have every state that is wrong, or current', () => {
    const found = (['current', 'stale', 'missing', 'refused', 'held'] as const).map((state) => names('', state));
    assert.deepEqual(found, ['web', 'api,old', 'cart,old', 'old', 'queue,old']);
  });

  it('are found by every word, in any text of theirs', () => {
    assert.equal(names(' PROD  api '), 'api');
    assert.equal(names('shop/deployment/'), 'web,api,cart,queue,old');
    assert.equal(names('quota', 'stale'), 'old');
    assert.equal(names('quota', 'current'), '');
    assert.equal(names('would prod cart'), '');
  });

  it('are drawn around the visible part', () => {
    assert.deepEqual(windowOf(10_000, 40, 0, 400), { first: 0, last: 20, above: 0, below: 399_200 });
    assert.deepEqual(windowOf(10_000, 40, 200_010, 400), { first: 4990, last: 5021, above: 199_600, below: 199_160 });
    // The browser keeps the place of a longer list for a moment.
    assert.deepEqual(windowOf(3, 40, 200_000, 400), { first: 0, last: 3, above: 0, below: 0 });
    assert.deepEqual(windowOf(0, 40, 0, 400), { first: 0, last: 0, above: 0, below: 0 });
  });
});
