import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

describe('the heap', () => {
  const module = JSON.stringify(join(import.meta.dirname, 'heap-bounds.ts'));
  /** Returns the young generation of a new process after many allocations, in MiB. */
  function youngGeneration(preparation: string): number {
    const script = `
      import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
      const { boundHeap, leaveHeapToGrow } = await import(${module});
      ${preparation}
      let kept = [];
      for (let round = 0; round < 40; round++) {
        for (let index = 0; index < 20000; index++) kept.push({ index, list: [index] });
        if (round % 4 === 3) kept = [];
      }
      console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 1048576);`;
    const options = ['--semi-space-growth-factor=1', ...process.execArgv, '--input-type=module'];
    const result = spawnSync(process.execPath, [...options, '-e', script], { encoding: 'utf8' });
    assert.equal(result.status, 0, result.stderr);
    return Number(result.stdout);
  }

  it('has a young generation of 8 MiB in a server, and a growing young generation in other commands', () => {
    assert.equal(youngGeneration('boundHeap();'), 8);
    assert.ok(youngGeneration('leaveHeapToGrow();') > 8);
  });

  it('collects only the young generation on request', () => {
    const script = `
      import { PerformanceObserver } from 'node:perf_hooks';
      const { boundHeap, youngCollector } = await import(${module});
      boundHeap();
      const collect = youngCollector();
      const kinds = [];
      new PerformanceObserver((list) => kinds.push(...list.getEntries().map(({ detail }) => detail.kind))).observe({ entryTypes: ['gc'] });
      for (let round = 0; round < 3; round++) collect();
      setTimeout(() => console.log(kinds.join(), typeof globalThis.gc), 50);`;
    const options = ['--semi-space-growth-factor=1', ...process.execArgv, '--input-type=module'];
    const { stdout, stderr } = spawnSync(process.execPath, [...options, '-e', script], { encoding: 'utf8' });
    assert.equal(stdout, '1,1,1 undefined\n', stderr);
  });
});
