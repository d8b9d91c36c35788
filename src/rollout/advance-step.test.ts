import assert from 'node:assert/strict';
import { readyPods, strategyOf, unreadyPods } from './testdata/situation.ts';
import { healthy, TagHistory } from './testdata/tag-history.ts';

const untilResumed = strategyOf([{ weight: 5, pause: 'UntilResumed' }, { weight: 50 }]);

describe('A rollout pauses', () => {
  it('until a user resumes it', () => {
    const tag = TagHistory.begun(untilResumed);
    tag.see(60, { pods: healthy() });
    for (const seconds of [100, 1e8]) assert.equal(tag.see(seconds, { pods: healthy() }), 'Paused/UntilResumed');
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(1e8, { pods: healthy(), action: 'resume:1' }), 'Progressing/StepStarted');
    assert.deepEqual(tag.events, ['Normal/RolloutResumed', 'Normal/StepStarted']);
    assert.deepEqual([tag.now.step, tag.now.action?.state, tag.now.resumed], [1, 'Done', undefined]);
  });

  it('for no extra time when the evidence is lost for a while', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 5, pause: '10m' }]));
    tag.see(60, { pods: healthy() });
    assert.equal(tag.see(100), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(400, { pods: healthy(390) }), 'Progressing/WatchingPods');
    assert.equal(tag.see(450, { pods: healthy(390) }), 'Paused/Pause');
    assert.equal(tag.due, 660);
  });

  it('separately in each step', () => {
    const steps = [5, 50].map((weight) => ({ weight, pause: '10m' }));
    const tag = TagHistory.begun(strategyOf(steps));
    tag.see(60, { pods: healthy() });
    tag.see(660, { pods: healthy() });
    assert.deepEqual([tag.now.step, tag.now.pausedAt], [1, undefined]);
    assert.equal(tag.see(720, { pods: healthy() }), 'Paused/Pause');
    assert.equal(tag.due, 1320);
  });

  it('not at all with a pause of 0s', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 5, pause: '0s' }]));
    assert.equal(tag.see(60, { pods: healthy() }), 'Promoted/Promoted');
  });

  it('and runs the next pass when a pod would become late', () => {
    const tag = TagHistory.begun(untilResumed);
    const pods = { stable: readyPods(100), canary: [...readyPods(3), ...unreadyPods(1, 100)] };
    assert.equal(tag.see(110, { pods }), 'Paused/UntilResumed');
    assert.equal(tag.due, 400);
    assert.equal(tag.see(400, { pods }), 'RolledBack/PodsFailing');
  });

  it('and continues after resume once the evidence is complete again', () => {
    const tag = TagHistory.begun(untilResumed);
    tag.see(60, { pods: healthy() });
    assert.equal(tag.see(70, { action: 'resume:1' }), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(71), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(300, { pods: healthy(200) }), 'Progressing/StepStarted');
  });
});
