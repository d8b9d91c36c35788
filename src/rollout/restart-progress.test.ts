import assert from 'node:assert/strict';
import { at, boundsOf } from './testdata/situation.ts';
import { candidate, incomplete, names, older, one, plan, reasons, target } from './testdata/restart-plan.ts';

describe('planRestarts, by how far workloads have come,', () => {
  it('counts those that are restarting, by the annotation alone', () => {
    const restarted = { target, at: at(990).getTime() };
    const { restart, status, at: next } = plan([incomplete('z', { stale: 1, restarted }), candidate('a')]);
    assert.deepEqual([names(restart), status.inProgress, status.stale, status.untouched], [[], 1, 2, []]);
    assert.equal(next, at(990 + 600).getTime(), 'when it is late');
  });

  it('waits until a restarted one has been complete for long enough', () => {
    const restarted = { target, at: at(900).getTime() };
    const done = (since: number) => candidate('z', { stale: 0, restarted, completeSince: at(since).getTime() });
    const waiting = plan([done(995), candidate('a')]);
    assert.deepEqual([names(waiting.restart), waiting.at], [[], at(1005).getTime()]);
    assert.deepEqual(names(plan([done(990), candidate('a')]).restart), ['a']);
    assert.deepEqual(
      names(plan([done(0), candidate('a')], one, 905).restart),
      [],
      'complete from before does not count',
    );
  });

  it('is at it until it has been complete for long enough once, and not again when it is scaled later', () => {
    const restarted = { target, at: at(900).getTime() };
    const scaled = (completedFor: number) => incomplete('z', { stale: 0, restarted, completedFor });
    assert.deepEqual(names(plan([scaled(9_999), candidate('a')]).restart), []);
    const { restart, status, at: next } = plan([scaled(10_000), candidate('a')], one, 5000);
    assert.deepEqual([names(restart), status.inProgress, next], [['a'], 0, undefined]);
    const none = boundsOf({ minReadySeconds: 0 });
    assert.deepEqual(names(plan([incomplete('z', { stale: 0, restarted }), candidate('a')], none).restart), []);
    const again = incomplete('z', { restarted: { ...restarted, target: older }, completedFor: 10_000 });
    assert.deepEqual(reasons(plan([again]).status.waiting), ['z NotComplete'], 'that is not our doing any more');
  });

  it('believes no annotation from the future', () => {
    const restarted = (seconds: number) => ({ target, at: at(seconds).getTime() });
    const z = incomplete('z', { stale: 0, restarted: restarted(1000 + 25 * 3600) });
    assert.deepEqual(names(plan([z, candidate('a')]).restart), ['a']);
    const done = candidate('z', { stale: 0, restarted: restarted(2000), completeSince: at(1000).getTime() });
    assert.deepEqual(names(plan([done, candidate('a')], one, 1010).restart), ['a'], 'complete is complete');
    assert.deepEqual(names(plan([done, candidate('a')], one, 1009).restart), []);
  });
});
