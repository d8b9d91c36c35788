import assert from 'node:assert/strict';
import { advanceRollout } from './rollout.ts';
import { at, readyPods, ref, unreadyPods } from './testdata/situation.ts';
import { TagHistory, threeSteps, withoutDesired } from './testdata/tag-history.ts';
import { noWorkload } from '../routing/workload-key.ts';

describe('A requested action', () => {
  it('promote ends the rollout immediately', () => {
    const tag = TagHistory.begun();
    assert.equal(tag.see(1, { action: 'promote:a' }), 'Promoted/Promoted');
    assert.equal(tag.now.step, 0, 'no step is done');
    assert.match(tag.now.message, /revision 1-25 is stable now, in place of 1-24: a user requested it/);
    assert.deepEqual(tag.now.action, { verb: 'promote', nonce: 'a', state: 'Done', message: tag.now.message });
    assert.equal(tag.due, undefined);
  });

  it('abort goes back to stable, and retry starts again', () => {
    const tag = TagHistory.begun();
    assert.equal(tag.see(1, { action: 'abort:a' }), 'RolledBack/Aborted');
    assert.deepEqual([tag.now.canary, tag.now.threshold], [undefined, noWorkload]);
    assert.equal(tag.see(2, { action: 'abort:a' }), 'RolledBack/Aborted');
    assert.deepEqual(tag.events, [], 'the action is carried out once');
    assert.equal(tag.see(3, { action: 'retry:b' }), 'Progressing/StepStarted');
    assert.equal(tag.due, 3);
    assert.equal(tag.see(4, { action: 'retry:b' }), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(5, { action: 'abort:b' }), 'RolledBack/Aborted', 'another verb is another request');
  });

  it('pause holds a step until resume, whatever its evidence, and bad pods still end it', () => {
    const tag = TagHistory.begun();
    const pods = { stable: readyPods(100), canary: readyPods(50, 1) };
    const action = 'pause:a';
    assert.equal(tag.see(1, { action }), 'Paused/UntilResumed');
    assert.deepEqual(tag.events, ['Normal/RolloutPaused']);
    assert.match(tag.now.message, /^step 1 \(5 percent\) is paused until a user resumes it$/);
    assert.equal(tag.see(10_000, { action, pods }), 'Paused/UntilResumed');
    const held = { ...tag.now };
    const failing = { ...pods, canary: unreadyPods(50, 1) };
    assert.equal(tag.see(20_000, { action, pods: failing }), 'RolledBack/PodsFailing');
    tag.state = held;
    assert.equal(tag.see(20_000, { action: 'resume:b', pods }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.step, tag.now.pausedAt, tag.now.resumed], [1, undefined, undefined]);
  });

  it('is carried out in the pass after an edit of spec.revision', () => {
    const tag = new TagHistory();
    tag.see(0, { revision: '1-24', desired: ref('1-24') });
    assert.equal(tag.see(1, { action: 'promote:a' }), 'Progressing/StepStarted');
    assert.equal(tag.see(1, { action: 'promote:a' }), 'Promoted/Promoted');
  });

  it('is refused if the state is lost, because it may have been carried out before', () => {
    const tag = new TagHistory();
    assert.equal(tag.see(0, { action: 'promote:a' }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.action?.state, tag.now.action?.nonce], ['Refused', 'a']);
    assert.match(tag.now.action?.message ?? '', /^promote: status.rollout was missing, .* another nonce$/);
    assert.equal(tag.see(1, { action: 'promote:a' }), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(2, { action: 'promote:b' }), 'Promoted/Promoted');
    const other = new TagHistory();
    other.see(0, { action: 'undo' });
    assert.match(other.now.action?.message ?? '', /is not a request/);
  });

  const nothing = withoutDesired({ action: 'retry:a' });

  it('retry is refused while the revision is not ready', () => {
    const tag = TagHistory.begun();
    tag.see(1, { action: 'abort:a' });
    const { state } = advanceRollout({ state: tag.now, strategy: threeSteps, observed: nothing, now: at(2) });
    assert.deepEqual([state?.phase, state?.action?.state], ['RolledBack', 'Refused']);
    assert.match(state?.action?.message ?? '', /^retry: revision 1-25 is not ready/);
    const none = advanceRollout({ state: tag.now, strategy: undefined, observed: nothing, now: at(2) });
    assert.equal(none.state?.action?.state, 'Refused');
  });

  const notRolledBack = /^retry: nothing was rolled back; a rollout begins when spec\.revision changes$/;
  const rolledBack = /^promote: no rollout is under way; the last one was rolled back; request retry .*$/;
  const notPaused = /^resume: step 1 is not paused: step 1 \(5 percent\) waits for pods/;
  for (const [title, action, phase, message] of [
    ['abort without a rollout', 'abort:a', 'Idle', /^abort: no rollout is under way$/],
    ['resume without a rollout', 'resume:a', 'Idle', /^resume: no rollout is under way$/],
    ['retry without a rollback', 'retry:a', 'Idle', notRolledBack],
    ['an unknown verb', 'undo', 'Idle', /is not a request; write one of promote, abort/],
    ['a value that ends within a surrogate pair', `${'x'.repeat(62)}\u{1f600}`, 'Idle', /is not a request/],
    ['a value that is far too long', 'x'.repeat(5000), 'Idle', /is not a request/],
    ['resume without a pause', 'resume:a', 'WaitingForPods', notPaused],
    ['promote after a rollback', 'promote:b', 'RolledBack', rolledBack],
  ] as const) {
    it(`is refused once, without any other change: ${title}`, () => {
      const tag = new TagHistory();
      const rest = { revision: '1-24', desired: ref('1-24') };
      const fields = phase === 'Idle' ? rest : {};
      tag.see(0, fields);
      if (phase === 'WaitingForPods') tag.see(1);
      if (phase === 'RolledBack') tag.see(1, { action: 'abort:a' });
      assert.equal(tag.now.phase, phase);
      const before = tag.now;
      tag.see(2, { ...fields, action });
      assert.equal(tag.now.action?.state, 'Refused');
      assert.match(tag.now.action.message, message);
      assert.match(tag.now.action.nonce, /^[\x20-\x7e]{1,63}$/);
      assert.deepEqual(tag.events, ['Warning/ActionRefused']);
      assert.deepEqual({ ...tag.now, action: before.action }, { ...before, action: before.action });
      tag.see(3, { ...fields, action });
      assert.deepEqual(tag.events, []);
    });
  }
});
