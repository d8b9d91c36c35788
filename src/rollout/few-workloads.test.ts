import assert from 'node:assert/strict';
import { readyPods, strategyOf, workloads } from './testdata/situation.ts';
import { TagHistory } from './testdata/tag-history.ts';

describe('A rollout with few workloads', () => {
  for (const count of [1, 2, 7]) {
    it(`(${count}) goes through with the pods that there are`, () => {
      const tag = new TagHistory(strategyOf([{ weight: 5 }, { weight: 100 }]));
      const fields = { workloads: workloads(count), pods: { stable: [], canary: readyPods(1) } };
      tag.see(0, fields);
      assert.equal(tag.now.canaryWorkloads, 1);
      assert.equal(tag.see(60, fields), 'Progressing/StepStarted', 'one pod is all that the share has');
      assert.equal(tag.now.canaryWorkloads, count);
      const all = { ...fields, pods: { stable: [], canary: readyPods(Math.min(count, 3)) } };
      assert.equal(tag.see(120, all), 'Promoted/Promoted');
    });
  }

  it('waits for all the pods of the share before it is content with fewer', () => {
    const tag = new TagHistory();
    const fields = { workloads: workloads(2, 2) };
    tag.see(0, fields);
    const pods = { stable: readyPods(3), canary: readyPods(1) };
    assert.equal(tag.see(100, { ...fields, pods }), 'WaitingForPods/NotEnoughPods');
    assert.match(tag.now.message, /1 of 2 pods of the canary are ready/);
  });

  it('waits for a workload whose only pod is being replaced', () => {
    const tag = new TagHistory(strategyOf([{ weight: 100 }], { minimumPods: 3 }));
    const [one, ...others] = workloads(3);
    tag.see(0, { workloads: workloads(3) });
    const fields = { workloads: [{ ...one!, pods: 0 }, ...others], pods: { stable: [], canary: readyPods(2) } };
    assert.equal(tag.see(100, fields), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(160, { ...fields, workloads: others }), 'Promoted/Promoted', 'it has gone for good');
  });

  it('never advances without any', () => {
    const tag = new TagHistory(strategyOf([{ weight: 5 }, { weight: 100 }], { minimumPods: 1, minReadySeconds: 0 }));
    const nobody = { workloads: [], pods: { stable: [], canary: [] } };
    tag.see(0, nobody);
    for (const seconds of [1, 1e6, 1e9]) assert.equal(tag.see(seconds, nobody), 'WaitingForPods/NotEnoughPods');
  });

  it('asks for all of minimumPods when the share has none, and some are on their way out', () => {
    const tag = new TagHistory();
    const fields = { workloads: [], pods: { stable: [], canary: readyPods(2) } };
    tag.see(0, fields);
    assert.equal(tag.see(100, fields), 'WaitingForPods/NotEnoughPods');
    assert.match(tag.now.message, /2 of 3 pods/);
  });

  it('measures the share again when all of it is gone', () => {
    const tag = new TagHistory();
    tag.see(0, { workloads: workloads(10) });
    const { threshold } = tag.now;
    const late = [
      { rank: 'e000000000000000', pods: 1 },
      { rank: 'f000000000000000', pods: 1 },
    ];
    tag.see(1, { workloads: late });
    assert.equal(tag.now.canaryWorkloads, 1);
    assert.ok(tag.now.threshold > threshold);
    const raised = tag.now.threshold;
    tag.see(2, { workloads: [] });
    assert.equal(tag.now.threshold, raised);
    tag.see(3, { workloads: workloads(10) });
    assert.equal(tag.now.threshold, raised, 'it never shrinks');
    assert.equal(tag.now.canaryWorkloads, 9);
  });
});
