import assert from 'node:assert/strict';
import type { RolloutState } from '../api/revision-tag/revision-tag.ts';
import type { RolloutObservation } from './observation.ts';
import { advanceRollout } from './rollout.ts';
import { at, ref, strategyOf } from './testdata/situation.ts';
import { healthy, TagHistory, threeSteps, withoutDesired } from './testdata/tag-history.ts';
import { noWorkload } from '../routing/workload-key.ts';

const shadowFirst = strategyOf([{ weight: 0, shadow: true }, { weight: 5 }]);

describe('A rollout whose spec is edited', () => {
  const inProgress = (): TagHistory => {
    const tag = TagHistory.begun();
    tag.see(60, { pods: healthy() });
    assert.equal(tag.now.weight, 50);
    return tag;
  };

  it('starts again from stable when the spec names another revision', () => {
    const tag = inProgress();
    assert.equal(tag.see(61, { revision: '1-26', generation: 3, desired: ref('1-26') }), 'Progressing/StepStarted');
    const { stable, canary, weight, canaryWorkloads } = tag.now;
    assert.deepEqual([stable, canary, weight, canaryWorkloads], [ref('1-24'), ref('1-26'), 5, 5]);
  });

  it('goes back to stable while the other revision is not ready', () => {
    const tag = inProgress();
    const observed = withoutDesired({ revision: '1-26', generation: 3 });
    const pass = advanceRollout({ state: tag.now, strategy: threeSteps, observed, now: at(61) });
    const { phase, reason, canary } = pass.state ?? {};
    assert.deepEqual([phase, reason, canary], ['Idle', 'RevisionNotReady', undefined]);
    const [event, ...others] = pass.events;
    assert.deepEqual([event?.reason, others], ['RolloutAborted', []]);
    const again = advanceRollout({ state: pass.state, strategy: threeSteps, observed, now: at(62) });
    assert.deepEqual([again.state, again.events, again.at], [pass.state, [], undefined]);
  });

  it('ends when the spec names stable again', () => {
    const tag = inProgress();
    assert.equal(tag.see(61, { revision: '1-24', generation: 3, desired: ref('1-24') }), 'Idle/Stable');
    assert.deepEqual([tag.now.threshold, tag.now.canary], [noWorkload, undefined]);
    assert.deepEqual(tag.events, ['Normal/RolloutAborted']);
    assert.equal(tag.see(62, { revision: '1-24', generation: 3, desired: ref('1-24') }), 'Idle/Stable');
    assert.deepEqual(tag.events, []);
  });

  it('starts again when the canary serves another configuration', () => {
    const tag = inProgress();
    assert.equal(tag.see(61, { desired: ref('1-25', '00000002') }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.weight, tag.now.canary?.hash], [5, '00000002']);
  });

  it('follows a new configuration of the stable revision, and continues', () => {
    const tag = inProgress();
    const { threshold } = tag.now;
    assert.equal(tag.see(61, { stable: ref('1-24', '0000000a'), pods: healthy() }), 'Progressing/WatchingPods');
    assert.deepEqual([tag.now.stable.hash, tag.now.threshold], ['0000000a', threshold]);
  });

  it('moves immediately if the strategy is removed', () => {
    const tag = inProgress();
    tag.strategy = undefined;
    assert.equal(tag.see(61, { generation: 3 }), 'Idle/Stable');
    assert.deepEqual([tag.now.stable, tag.now.canary, tag.due], [ref('1-25'), undefined, undefined]);
  });

  it('waits while the revision is not ready, even if the strategy is removed', () => {
    const tag = inProgress();
    const observed = withoutDesired({ generation: 3 });
    const pass = advanceRollout({ state: tag.now, strategy: undefined, observed, now: at(61) });
    assert.deepEqual(pass, { state: tag.now, at: undefined, events: [] });
  });

  for (const [title, steps, expected] of [
    ['fewer steps below the weight', [{ weight: 1 }, { weight: 2 }], [1, 50]],
    ['one step below the weight', [{ weight: 1 }], [0, 50]],
    ['a larger weight of the step', [{ weight: 5 }, { weight: 60 }], [1, 60]],
    ['a smaller weight of the step', [{ weight: 5 }, { weight: 20 }, { weight: 70 }], [2, 70]],
    ['one more step before it', [{ weight: 5 }, { weight: 20 }, { weight: 50 }], [2, 50]],
    ['only shadow steps', [{ weight: 0, shadow: true }], [0, 50]],
  ] as const) {
    it(`keeps the weight after an edit to ${title}, and completes`, () => {
      const tag = inProgress();
      const { threshold } = tag.now;
      tag.strategy = strategyOf(steps);
      tag.see(61, { generation: 3, pods: healthy() });
      assert.deepEqual([tag.now.step, tag.now.weight, tag.now.shadow], [...expected, false]);
      assert.ok(tag.now.threshold >= threshold);
      for (let seconds = 62; seconds < 1000 && tag.now.phase !== 'Promoted'; seconds += 30) {
        tag.see(seconds, { generation: 3, pods: healthy() });
      }
      assert.equal(tag.now.phase, 'Promoted');
    });
  }

  it('begins a step again when it changes from shadow to a weight', () => {
    const tag = TagHistory.begun(shadowFirst);
    tag.strategy = threeSteps;
    tag.see(1);
    assert.deepEqual([tag.now.step, tag.now.weight, tag.now.shadow], [0, 5, false]);
  });
});

describe('A rollout whose revision is not ready', () => {
  it('does not begin, reports why once, and refuses actions', () => {
    const first = advanceRollout({ state: undefined, strategy: threeSteps, observed: withoutDesired(), now: at(0) });
    const { phase, reason, message = '' } = first.state ?? {};
    assert.deepEqual([phase, reason, first.events, first.at], ['Idle', 'RevisionNotReady', [], undefined]);
    assert.match(message, /revision 1-25 is not ready yet .*; pods get revision 1-24$/);
    const observed = withoutDesired({ action: 'promote:1' });
    const asked = advanceRollout({ state: first.state, strategy: threeSteps, observed, now: at(1) });
    assert.equal(asked.state?.action?.message, 'promote: no rollout is under way');
  });

  it('stays at its step, and is still rolled back', () => {
    const tag = TagHistory.begun();
    const pass = (state: RolloutState | undefined, seconds: number, fields: Partial<RolloutObservation>) =>
      advanceRollout({ state, strategy: threeSteps, observed: withoutDesired(fields), now: at(seconds) });
    const hold = pass(tag.now, 60, { pods: healthy() });
    assert.deepEqual([hold.state?.phase, hold.state?.reason, hold.state?.step], ['Progressing', 'RevisionNotReady', 0]);
    const worse = pass(hold.state, 61, { injectionErrors: 1 });
    assert.equal(worse.state?.phase, 'RolledBack');
  });
});
