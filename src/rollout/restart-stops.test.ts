import assert from 'node:assert/strict';
import type { OtherRestart, RestartCandidate } from './restart-candidate.ts';
import { at, boundsOf } from './testdata/situation.ts';
import {
  candidate,
  incomplete,
  names,
  older,
  one,
  plan,
  reasons,
  restartedForLogs,
  target,
  wide,
} from './testdata/restart-plan.ts';

describe('planRestarts, when what was restarted gets worse,', () => {
  it('stops while a restarted one is not complete in time, and goes on when it is', () => {
    const restarted = { target, at: at(0).getTime() };
    const bounds = boundsOf({ maxUnavailableWorkloads: 10, perNamespace: 10 });
    const late = ['p', 'q', 'r', 's'].map((name) => incomplete(name, { stale: 0, restarted }));
    const { restart, status } = plan([...late, candidate('a')], bounds, 600);
    assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
    assert.equal(
      status.message,
      `nothing more is restarted: ${['p', 'q', 'r'].map((name) => `shop/Deployment/${name}: restarted and not complete in time (readyTimeout)`).join('; ')}; and 1 more`,
    );
    assert.match(
      plan([late[0]!, candidate('a')], bounds, 600).status.message,
      /: shop\/Deployment\/p: restarted and not complete/,
    );
    assert.deepEqual(names(plan([...late, candidate('a')], bounds, 599).restart), ['a']);
    const recovered = candidate('p', { stale: 0, restarted, completeSince: at(700).getTime() });
    assert.deepEqual(names(plan([recovered, candidate('a')], bounds, 710).restart), ['a']);
  });

  it('does not stop while a restarted one comes further, however long all of it takes', () => {
    const restarted = { target, at: at(0).getTime() };
    const slow = incomplete('z', { stale: 0, restarted, progressedAt: at(500).getTime() });
    const going = plan([slow, candidate('a')], one, 1099);
    assert.deepEqual([going.status.phase, going.at], ['Restarting', at(1100).getTime()]);
    assert.equal(plan([slow, candidate('a')], one, 1100).status.phase, 'Stopped');
    const earlier = incomplete('z', { stale: 0, restarted, progressedAt: at(-500).getTime() });
    assert.equal(plan([earlier, candidate('a')], one, 599).status.phase, 'Restarting');
  });

  it('does not take what fails a day later for its own doing', () => {
    const restarted = { target, at: at(0).getTime() };
    const day = 24 * 3600;
    const failing = incomplete('z', { stale: 0, restarted });
    assert.equal(plan([failing, candidate('a')], one, day - 1).status.phase, 'Stopped');
    assert.deepEqual(names(plan([failing, candidate('a')], one, day).restart), ['a']);
  });

  describe('when pods crash', () => {
    const restarted = { target, at: at(990).getTime() };

    it('stops at once', () => {
      const { restart, status, stopped } = plan(
        [incomplete('z', { stale: 0, restarted, crashing: 2 }), candidate('a')],
        wide,
      );
      assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
      const sentence = 'nothing more is restarted: shop/Deployment/z: restarted, and 2 of its new pods crash';
      assert.deepEqual([status.message, reasons(stopped)], [sentence, ['z Crashing']]);
    });

    it('stops also when it had been complete, and when nothing else is to do', () => {
      const done = { stale: 0, restarted, crashing: 1, completedFor: 60_000 };
      assert.equal(plan([incomplete('z', done), candidate('a')], wide).status.phase, 'Stopped');
      assert.equal(plan([candidate('z', done)], wide).status.phase, 'Stopped');
    });

    it('does not stop for pods of another target, a day later, or after the restart of another tag', () => {
      const crashing = (fields: object) => incomplete('z', { stale: 0, crashing: 1, restarted, ...fields });
      const other: OtherRestart = { ...restartedForLogs('z'), at: at(995).getTime() };
      assert.equal(
        plan([crashing({ restarted: { ...restarted, target: older } }), candidate('a')], wide).restart.length,
        1,
      );
      assert.equal(plan([crashing({}), candidate('a')], wide, 990 + 24 * 3600).restart.length, 1);
      assert.equal(plan([crashing({}), candidate('a')], wide, 1000, [other]).restart.length, 1);
    });

    it('restarts it for another target though it is not complete and its budget is used up, before all others', () => {
      const budgets = [{ name: 'none', disruptionsAllowed: 0 }];
      const broken = { restarted: { ...restarted, target: older }, crashing: 1, completedFor: 60_000, budgets };
      const { restart, status } = plan([candidate('a'), incomplete('z', broken)]);
      assert.deepEqual([names(restart), reasons(status.waiting)], [['z'], ['a Bound', 'z Next']]);
    });
  });

  it('stops when new pods have no sidecar', () => {
    const restarted = { target, at: at(900).getTime() };
    const bare = candidate('z', { stale: 0, restarted, uninjected: 2 });
    const { restart, status, stopped } = plan([bare, candidate('a')]);
    assert.deepEqual([names(restart), status.phase, reasons(stopped)], [[], 'Stopped', ['z NotInjected']]);
    assert.match(status.message, /shop\/Deployment\/z: restarted, and 2 of its new pods have no sidecar/);
  });

  it('stops when the last three that were restarted are as stale as before', () => {
    const restartedAt = (seconds: number, fields: object = {}) =>
      candidate(`w${seconds}`, { restarted: { target, at: at(seconds).getTime() }, ...fields });
    const three = [100, 200, 300].map((seconds) => restartedAt(seconds));
    const { restart, status, stopped } = plan([...three, candidate('a')]);
    assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
    assert.deepEqual(reasons(stopped), ['w300 NoEffect', 'w200 NoEffect', 'w100 NoEffect']);
    const goesOn = (...others: RestartCandidate[]) => names(plan([...others, candidate('a')]).restart).join();
    assert.equal(goesOn(...three.slice(1)), 'a', 'two are not enough');
    assert.equal(goesOn(...three, restartedAt(400, { stale: 0 })), 'a', 'the latest one was of use');
    const forOther = restartedAt(100, { restarted: { target: older, at: at(100).getTime() } });
    assert.equal(goesOn(...three.slice(1), forOther), 'a', 'one was for another target');
    assert.equal(goesOn(restartedAt(50, { stale: 0 }), ...three), '', 'what was before does not matter');
    assert.equal(plan(three).status.phase, 'Idle', 'where nothing is left to restart nothing stops');
  });
});
