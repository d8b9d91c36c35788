import assert from 'node:assert/strict';
import { advanceRollout } from './rollout.ts';
import { at, observation, place, strategyOf } from './testdata/situation.ts';
import { healthy, TagHistory, threeSteps } from './testdata/tag-history.ts';
import { everyWorkload } from '../routing/workload-key.ts';

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
    assert.deepEqual(tag.now.pods, {
      stable: { ready: 100, failing: 0, total: 100 },
      canary: { ready: 3, failing: 0, total: 3 },
    });
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
