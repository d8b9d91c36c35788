import assert from 'node:assert/strict';
import { advanceRollout } from './rollout.ts';
import { at, observation, place, strategyOf, readyPods, workloads } from './testdata/situation.ts';
import { healthy, TagHistory, threeSteps } from './testdata/tag-history.ts';
import { everyWorkload, noWorkload } from '../routing/workload-key.ts';

describe('advanceRollout', () => {
  it('goes from step to step on evidence, and promotes after the last', () => {
    const tag = new TagHistory();
    assert.equal(tag.see(0), 'Progressing/StepStarted');
    assert.deepEqual(tag.events, ['Normal/RolloutStarted', 'Normal/StepStarted']);
    const { canary, step, weight, threshold, canaryWorkloads, knownWorkloads } = tag.now;
    assert.deepEqual([canary, step, weight, canaryWorkloads, knownWorkloads], [place('1-25'), 0, 5, 5, 100]);
    assert.equal(tag.due, 0);
    assert.equal(tag.see(1), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(20, { pods: healthy(10) }), 'Progressing/WatchingPods');
    const all = { ready: 100, failing: 0, total: 100 };
    assert.deepEqual(tag.now.pods, { stable: all, canary: { ready: 3, failing: 0, total: 3 } });
    assert.equal(tag.due, 70);
    assert.equal(tag.see(69.9, { pods: healthy(10) }), 'Progressing/WatchingPods');
    assert.equal(tag.now.threshold, threshold);
    assert.equal(tag.see(70, { pods: healthy(10) }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.step, tag.now.weight, tag.now.canaryWorkloads], [1, 50, 50]);
    // The evidence of a step counts for that step.
    assert.equal(tag.see(70, { pods: healthy(10) }), 'Progressing/WatchingPods');
    assert.equal(tag.due, 130);
    assert.equal(tag.see(130, { pods: healthy(10) }), 'Paused/Pause');
    assert.deepEqual(tag.events, ['Normal/RolloutPaused']);
    assert.equal(tag.due, 730);
    assert.equal(tag.see(200, { pods: healthy(10) }), 'Paused/Pause');
    assert.deepEqual(tag.events, [], 'told once');
    assert.equal(tag.see(730, { pods: healthy(10) }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.weight, tag.now.threshold, tag.now.canaryWorkloads], [100, everyWorkload, 100]);
    assert.equal(tag.see(790, { pods: healthy(10) }), 'Promoted/Promoted');
    assert.deepEqual(tag.events, ['Normal/Promoted']);
    const { stable, ...last } = tag.now;
    assert.deepEqual([stable, last.canary, last.step, last.weight], [place('1-25'), undefined, 3, 100]);
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(800, { stable: place('1-25') }), 'Promoted/Promoted');
  });

  it('takes one step a pass, whatever there is to see', () => {
    const quick = strategyOf([{ weight: 5 }, { weight: 50 }, { weight: 100 }], { minReadySeconds: 0 });
    const tag = new TagHistory(quick);
    const weights = [0, 1, 2, 3].map((seconds) => {
      tag.see(seconds, { pods: healthy() });
      return tag.now.weight;
    });
    assert.deepEqual(weights, [5, 50, 100, 100]);
    assert.equal(tag.now.phase, 'Promoted');
  });

  it('gives the same for the same, so that a pass that was cut off can be repeated', () => {
    const tag = TagHistory.begun();
    const situation = { state: tag.now, strategy: threeSteps, observed: observation({ pods: healthy() }), now: at(60) };
    assert.deepEqual(advanceRollout(situation), advanceRollout(structuredClone(situation)));
    assert.deepEqual(situation.state, tag.state, 'what was given is left as it was');
  });

  describe('without a state', () => {
    it('leads where the status says', () => {
      const tag = new TagHistory();
      tag.see(0, { revision: '1-24', wanted: place('1-24') });
      assert.deepEqual([tag.now.phase, tag.now.reason, tag.now.stable], ['Idle', 'Stable', place('1-24')]);
    });

    it('that was lost leads to spec.revision', () => {
      const lost = observation();
      delete (lost as { before?: unknown }).before;
      const { state, events } = advanceRollout({ state: undefined, strategy: threeSteps, observed: lost, now: at(0) });
      assert.deepEqual([state?.phase, state?.stable, state?.canary, events], ['Idle', place('1-25'), undefined, []]);
    });

    it('is not known while spec.revision cannot be led to', () => {
      const unknown = observation();
      delete (unknown as { before?: unknown }).before;
      delete (unknown as { wanted?: unknown }).wanted;
      const pass = advanceRollout({ state: undefined, strategy: threeSteps, observed: unknown, now: at(0) });
      assert.deepEqual(pass, { state: undefined, at: undefined, events: [] });
    });

    it('of which a part was lost is at rest', () => {
      const tag = TagHistory.begun();
      delete tag.now.stepStartedAt;
      assert.equal(tag.see(1), 'Progressing/StepStarted');
      assert.deepEqual(tag.events, ['Normal/RolloutStarted', 'Normal/StepStarted'], 'it begins anew');
    });
  });

  it('throws on steps that the schema would not have let through', () => {
    const tag = new TagHistory({ ...threeSteps, steps: [] });
    assert.throws(() => tag.see(0), RangeError);
  });
});

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

const shadowFirst = strategyOf([{ weight: 0, shadow: true }, { weight: 5 }]);

describe('A shadow step', () => {
  const changed = ['spec.containers[a].image'];
  const report = (compared: number, failed = 0) => ({ compared, failed, differing: 1, changed });

  it('gives nobody the canary, and goes on once enough pods were compared', () => {
    const tag = new TagHistory(shadowFirst);
    assert.equal(tag.see(0), 'Shadowing/StepStarted');
    const { shadow, weight, threshold, canary } = tag.now;
    assert.deepEqual([shadow, weight, threshold, canary], [true, 0, noWorkload, place('1-25')]);
    assert.equal(tag.see(1), 'Shadowing/ComparingPods');
    assert.equal(tag.see(2, { shadow: report(2) }), 'Shadowing/ComparingPods');
    assert.match(tag.now.message, /compared for 2 of 3 pods/);
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(3, { shadow: report(3) }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.shadow, tag.now.weight, tag.now.shadowBefore], [false, 5, undefined]);
    assert.deepEqual(tag.now.shadowReport, report(3), 'what was found stays to be read');
  });

  it('is rolled back by the first failure, with its error if it has one', () => {
    const tag = TagHistory.begun(shadowFirst);
    const error = 'line 3: no such field';
    assert.equal(tag.see(1, { shadow: { ...report(2, 1), error } }), 'RolledBack/ShadowFailed');
    assert.match(tag.now.message, /it failed for 1 of 2 pods that the stable revision accepts: line 3: no such field$/);
    assert.equal(tag.now.shadowReport?.error, error);
    const silent = TagHistory.begun(shadowFirst);
    silent.see(1, { shadow: report(2, 2) });
    assert.match(silent.now.message, /for 2 of 2 pods that the stable revision accepts$/);
  });

  it('does not count what was compared before it', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(12, 4) }), 'Shadowing/ComparingPods');
    assert.deepEqual([tag.now.shadowReport?.compared, tag.now.shadowReport?.failed], [2, 0]);
    assert.equal(tag.see(2, { shadow: report(13, 4) }), 'Progressing/StepStarted');
  });

  it('counts anew when a replica that had counted is gone', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(1) }), 'Shadowing/ComparingPods');
    assert.equal(tag.see(2, { shadow: report(11, 1) }), 'RolledBack/ShadowFailed');
  });

  it('sees a failure even when its replica has compared no less than before', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(12, 3) }), 'RolledBack/ShadowFailed');
  });

  it('whose record of before was lost counts everything', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10) });
    delete tag.now.shadowBefore;
    tag.see(1, { shadow: report(10) });
    assert.equal(tag.now.shadowReport?.compared, 10);
  });

  it('pauses like any other', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 0, shadow: true, pause: '1m' }]));
    assert.equal(tag.see(5, { shadow: report(3) }), 'Paused/Pause');
    assert.equal(tag.due, 65);
    assert.equal(tag.see(65, { shadow: report(3) }), 'Promoted/Promoted');
  });
});
