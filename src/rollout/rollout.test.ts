import assert from 'node:assert/strict';
import { advanceRollout } from './rollout.ts';
import { at, observation, ref, strategyOf, rankAt, readyPods, workloads } from './testdata/situation.ts';
import { healthy, TagHistory, threeSteps } from './testdata/tag-history.ts';
import { everyWorkload, noWorkload } from '../routing/workload-key.ts';

describe('advanceRollout', () => {
  it('advances step by step on evidence, and promotes after the last step', () => {
    const tag = new TagHistory();
    assert.equal(tag.see(0), 'Progressing/StepStarted');
    assert.deepEqual(tag.events, ['Normal/RolloutStarted', 'Normal/StepStarted']);
    const { canary, step, weight, threshold, canaryWorkloads, knownWorkloads } = tag.now;
    assert.deepEqual([canary, step, weight, canaryWorkloads, knownWorkloads], [ref('1-25'), 0, 5, 5, 100]);
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
    // Each step needs its own evidence.
    assert.equal(tag.see(70, { pods: healthy(10) }), 'Progressing/WatchingPods');
    assert.equal(tag.due, 130);
    assert.equal(tag.see(130, { pods: healthy(10) }), 'Paused/Pause');
    assert.deepEqual(tag.events, ['Normal/RolloutPaused']);
    assert.equal(tag.due, 730);
    assert.equal(tag.see(200, { pods: healthy(10) }), 'Paused/Pause');
    assert.deepEqual(tag.events, [], 'reported once');
    assert.equal(tag.see(730, { pods: healthy(10) }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.weight, tag.now.threshold, tag.now.canaryWorkloads], [100, everyWorkload, 100]);
    assert.equal(tag.see(790, { pods: healthy(10) }), 'Promoted/Promoted');
    assert.deepEqual(tag.events, ['Normal/Promoted']);
    const { stable, ...last } = tag.now;
    assert.deepEqual([stable, last.canary, last.step, last.weight], [ref('1-25'), undefined, 3, 100]);
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(800, { stable: ref('1-25') }), 'Promoted/Promoted');
  });

  it('takes at most one step per pass', () => {
    const quick = strategyOf([{ weight: 5 }, { weight: 50 }, { weight: 100 }], { minReadySeconds: 0 });
    const tag = new TagHistory(quick);
    const weights = [0, 1, 2, 3].map((seconds) => {
      tag.see(seconds, { pods: healthy() });
      return tag.now.weight;
    });
    assert.deepEqual(weights, [5, 50, 100, 100]);
    assert.equal(tag.now.phase, 'Promoted');
  });

  it('is deterministic, so that an interrupted pass can be repeated', () => {
    const tag = TagHistory.begun();
    const situation = { state: tag.now, strategy: threeSteps, observed: observation({ pods: healthy() }), now: at(60) };
    assert.deepEqual(advanceRollout(situation), advanceRollout(structuredClone(situation)));
    assert.deepEqual(situation.state, tag.state, 'the input is unchanged');
  });

  describe('without a state', () => {
    it('starts at the revision in the status', () => {
      const tag = new TagHistory();
      tag.see(0, { revision: '1-24', desired: ref('1-24') });
      assert.deepEqual([tag.now.phase, tag.now.reason, tag.now.stable], ['Idle', 'Stable', ref('1-24')]);
    });

    it('starts at spec.revision if the status is lost too', () => {
      const lost = observation();
      delete (lost as { before?: unknown }).before;
      const { state, events } = advanceRollout({ state: undefined, strategy: threeSteps, observed: lost, now: at(0) });
      assert.deepEqual([state?.phase, state?.stable, state?.canary, events], ['Idle', ref('1-25'), undefined, []]);
    });

    it('writes no state while spec.revision is not ready', () => {
      const unknown = observation();
      delete (unknown as { before?: unknown }).before;
      delete (unknown as { desired?: unknown }).desired;
      const pass = advanceRollout({ state: undefined, strategy: threeSteps, observed: unknown, now: at(0) });
      assert.deepEqual(pass, { state: undefined, at: undefined, events: [] });
    });

    it('starts again if a part of the state is lost', () => {
      const tag = TagHistory.begun();
      delete tag.now.stepStartedAt;
      assert.equal(tag.see(1), 'Progressing/StepStarted');
      assert.deepEqual(tag.events, ['Normal/RolloutStarted', 'Normal/StepStarted']);
    });
  });

  it('throws on steps that the schema forbids', () => {
    const tag = new TagHistory({ ...threeSteps, steps: [] });
    assert.throws(() => tag.see(0), RangeError);
  });
});

describe('A rollout with few workloads', () => {
  for (const count of [1, 2, 7]) {
    it(`completes with the existing pods of ${count} workloads`, () => {
      const tag = new TagHistory(strategyOf([{ weight: 5 }, { weight: 100 }]));
      const fields = { workloads: workloads(count), pods: { stable: [], canary: readyPods(1) } };
      tag.see(0, fields);
      assert.equal(tag.now.canaryWorkloads, 1);
      assert.equal(tag.see(60, fields), 'Progressing/StepStarted', 'the share has only one pod');
      assert.equal(tag.now.canaryWorkloads, count);
      const all = { ...fields, pods: { stable: [], canary: readyPods(Math.min(count, 3)) } };
      assert.equal(tag.see(120, all), 'Promoted/Promoted');
    });
  }

  it('waits for all pods of a share that has fewer than minimumPods pods', () => {
    const tag = new TagHistory();
    const fields = { workloads: workloads(2, 2) };
    tag.see(0, fields);
    const pods = { stable: readyPods(3), canary: readyPods(1) };
    assert.equal(tag.see(100, { ...fields, pods }), 'WaitingForPods/NotEnoughPods');
    assert.match(tag.now.message, /1 of 2 pods of the canary in its share are ready/);
  });

  it('does not count pods of workloads outside the share, which were never moved away', () => {
    const tag = new TagHistory(strategyOf([{ weight: 50 }, { weight: 100 }]));
    const fields = { workloads: workloads(2, 2) };
    tag.see(0, fields);
    const [inside, outside] = [0, 1].map((index) => rankAt(index, 2));
    const canary = (ranks: (string | undefined)[]) =>
      readyPods(2).map((pod, index) => ({ ...pod, rank: ranks[index]! }));
    const only = (...ranks: (string | undefined)[]) => ({ ...fields, pods: { stable: [], canary: canary(ranks) } });
    assert.equal(tag.see(100, only(outside, outside)), 'WaitingForPods/NotEnoughPods');
    assert.match(tag.now.message, /0 of 2 pods of the canary in its share/);
    assert.equal(tag.see(200, only(inside, inside)), 'Progressing/StepStarted');
  });

  it('waits for a workload whose only pod is being replaced', () => {
    const tag = new TagHistory(strategyOf([{ weight: 100 }], { minimumPods: 3 }));
    const [one, ...others] = workloads(3);
    tag.see(0, { workloads: workloads(3) });
    const fields = { workloads: [{ ...one!, pods: 0 }, ...others], pods: { stable: [], canary: readyPods(2) } };
    assert.equal(tag.see(100, fields), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(160, { ...fields, workloads: others }), 'Promoted/Promoted', 'the workload is gone');
  });

  it('never advances without pods', () => {
    const tag = new TagHistory(strategyOf([{ weight: 5 }, { weight: 100 }], { minimumPods: 1, minReadySeconds: 0 }));
    const none = { workloads: [], pods: { stable: [], canary: [] } };
    tag.see(0, none);
    for (const seconds of [1, 1e6, 1e9]) assert.equal(tag.see(seconds, none), 'WaitingForPods/NotEnoughPods');
  });

  it('waits for minimumPods when only other workloads have canary pods', () => {
    const tag = new TagHistory();
    const fields = { workloads: [], pods: { stable: [], canary: readyPods(2) } };
    tag.see(0, fields);
    assert.equal(tag.see(100, fields), 'WaitingForPods/NotEnoughPods');
    assert.match(tag.now.message, /2 of 3 pods/);
  });

  it('measures the share again when all of its workloads are gone', () => {
    const tag = new TagHistory();
    tag.see(0, { workloads: workloads(10) });
    const { threshold } = tag.now;
    const late = [
      { rank: 'e000000000000000', namespace: 'shop', pods: 1 },
      { rank: 'f000000000000000', namespace: 'shop', pods: 1 },
    ];
    tag.see(1, { workloads: late });
    assert.equal(tag.now.canaryWorkloads, 1);
    assert.ok(tag.now.threshold > threshold);
    const raised = tag.now.threshold;
    tag.see(2, { workloads: [] });
    assert.equal(tag.now.threshold, raised);
    tag.see(3, { workloads: workloads(10) });
    assert.equal(tag.now.threshold, raised, 'the threshold never shrinks');
    assert.equal(tag.now.canaryWorkloads, 9);
  });
});

const shadowFirst = strategyOf([{ weight: 0, shadow: true }, { weight: 5 }]);

describe('A shadow step', () => {
  const changed = ['spec.containers[a].image'];
  const report = (compared: number, failed = 0) => ({ compared, failed, differing: 1, changed });

  it('gives no pod the canary, and ends once enough pods are compared', () => {
    const tag = new TagHistory(shadowFirst);
    assert.equal(tag.see(0), 'Shadowing/StepStarted');
    const { shadow, weight, threshold, canary } = tag.now;
    assert.deepEqual([shadow, weight, threshold, canary], [true, 0, noWorkload, ref('1-25')]);
    assert.equal(tag.see(1), 'Shadowing/ComparingPods');
    assert.equal(tag.see(2, { shadow: report(2) }), 'Shadowing/ComparingPods');
    assert.match(tag.now.message, /compared 2 of 3 pods/);
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(3, { shadow: report(3) }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.shadow, tag.now.weight, tag.now.shadowBefore], [false, 5, undefined]);
    assert.deepEqual(tag.now.shadowReport, report(3), 'the report remains');
  });

  it('is rolled back by the first failure, and reports its error', () => {
    const tag = TagHistory.begun(shadowFirst);
    const error = 'line 3: no such field';
    assert.equal(tag.see(1, { shadow: { ...report(2, 1), error } }), 'RolledBack/ShadowFailed');
    assert.match(tag.now.message, /failed for 1 of 2 pods that the stable revision accepts: line 3: no such field$/);
    assert.equal(tag.now.shadowReport?.error, error);
    const silent = TagHistory.begun(shadowFirst);
    silent.see(1, { shadow: report(2, 2) });
    assert.match(silent.now.message, /for 2 of 2 pods that the stable revision accepts$/);
  });

  it('does not count earlier comparisons', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(12, 4) }), 'Shadowing/ComparingPods');
    assert.deepEqual([tag.now.shadowReport?.compared, tag.now.shadowReport?.failed], [2, 0]);
    assert.equal(tag.see(2, { shadow: report(13, 4) }), 'Progressing/StepStarted');
  });

  it('counts from zero when a replica that had counts is gone', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(1) }), 'Shadowing/ComparingPods');
    assert.equal(tag.see(2, { shadow: report(11, 1) }), 'RolledBack/ShadowFailed');
  });

  it('detects a failure after a replica restarted, even when the sum has grown', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(12, 3) }), 'RolledBack/ShadowFailed');
  });

  it('counts all comparisons if shadowBefore is lost', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10) });
    delete tag.now.shadowBefore;
    tag.see(1, { shadow: report(10) });
    assert.equal(tag.now.shadowReport?.compared, 10);
  });

  it('pauses like any other step', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 0, shadow: true, pause: '1m' }]));
    assert.equal(tag.see(5, { shadow: report(3) }), 'Paused/Pause');
    assert.equal(tag.due, 65);
    assert.equal(tag.see(65, { shadow: report(3) }), 'Promoted/Promoted');
  });
});
