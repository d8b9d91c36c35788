import assert from 'node:assert/strict';
import type { RestartCandidate } from './restart-candidate.ts';
import { at, boundsOf, second } from './testdata/situation.ts';
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

describe('planRestarts, with shared budgets and bounds,', () => {
  it('waits for a budget that allows no disruption, and continues with other workloads', () => {
    const budgets = [
      { name: 'some', disruptionsAllowed: 1 },
      { name: 'none', disruptionsAllowed: 0 },
    ];
    const { restart, status } = plan([candidate('a', { budgets }), candidate('b')]);
    assert.deepEqual([names(restart), reasons(status.waiting)], [['b'], ['a Budget', 'b Next']]);
    const { phase, message } = plan([candidate('a', { budgets })]).status;
    assert.equal(phase, 'Waiting');
    assert.equal(message, '1 waiting; shop/Deployment/a: PodDisruptionBudget none allows no disruption now');
  });

  it('subtracts planned restarts from a shared budget', () => {
    const budgets = [{ name: 'shared', disruptionsAllowed: 2 }];
    const { restart, status } = plan(
      [...['a', 'b', 'c'].map((name) => candidate(name, { budgets })), candidate('d', { budgets, namespace: 'tools' })],
      wide,
    );
    assert.deepEqual(names(restart), ['a', 'd', 'b']);
    assert.deepEqual(reasons(status.waiting), ['a Next', 'b Next', 'c Budget', 'd Next']);
  });

  it('subtracts incomplete restarts of all tags from the budgets', () => {
    const shared = (disruptionsAllowed: number) => ({ budgets: [{ name: 'shared', disruptionsAllowed }] });
    const restarted = { target, at: at(990).getTime() };
    const running = incomplete('z', { stale: 0, restarted, ...shared(1) });
    assert.deepEqual(reasons(plan([running, candidate('a', shared(1))], wide).status.waiting), ['a Budget']);
    assert.deepEqual(names(plan([running, candidate('a', shared(2))], wide).restart), ['a']);
    const done = { ...running, completeSince: at(995).getTime() };
    assert.deepEqual(names(plan([done, candidate('a', shared(1))], wide).restart), ['a']);
    const other = { ...restartedForLogs('z'), ...shared(1) };
    assert.deepEqual(reasons(plan([candidate('a', shared(1))], wide, 1000, [other]).status.waiting), ['a Budget']);
    const turned = incomplete('b', { restarted: { ...restarted, target: older }, ...shared(2) });
    assert.deepEqual(names(plan([turned, candidate('c', shared(2))], wide).restart), ['b', 'c'], 'each counts once');
  });

  describe('with other tags', () => {
    it('counts their restarts', () => {
      const two = boundsOf({ maxUnavailableWorkloads: 2, perNamespace: 1 });
      const own = [candidate('a'), candidate('b', { namespace: 'tools' })];
      const { restart, status, at: next } = plan(own, two, 1000, [restartedForLogs('z')]);
      assert.deepEqual([names(restart), status.inProgress], [['b'], 0]);
      assert.equal(
        status.waiting[0]?.message,
        '1 workload in namespace shop is restarting, so the maximum is reached (perNamespace); for other tags: shop/Deployment/z (logs)',
      );
      assert.equal(next, at(990).getTime() + 24 * 3600 * second, 'when the other restart stops counting');
      const many = ['x', 'y', 'z'].map(restartedForLogs);
      assert.equal(
        plan([candidate('a')], two, 1000, many).status.waiting[0]?.message,
        '3 workloads are restarting, so the maximum is reached (maxUnavailableWorkloads); for other tags: shop/Deployment/x (logs) and 2 more',
      );
    });

    it('does not stop when their restarts are late or complete', () => {
      assert.deepEqual(reasons(plan([candidate('a')], one, 5000, [restartedForLogs('z')]).status.waiting), ['a Bound']);
      assert.deepEqual(names(plan([candidate('a')], one, 990 + 24 * 3600, [restartedForLogs('z')]).restart), ['a']);
      const done = { ...restartedForLogs('z'), completeSince: at(991).getTime() };
      assert.deepEqual([plan([candidate('a')], one, 1000, [done]).at], [at(1001).getTime()]);
      assert.deepEqual(names(plan([candidate('a')], one, 1001, [done]).restart), ['a']);
    });

    it('waits until a restart of the same workload for another tag ends', () => {
      const restarted = { target, at: at(100).getTime() };
      const others = [restartedForLogs('z')];
      const waits = plan([candidate('z', { restarted: { ...restarted, target: older } })], wide, 1000, others);
      assert.deepEqual([names(waits.restart), waits.status.inProgress], [[], 0]);
      assert.deepEqual(reasons(waits.status.waiting), ['z OtherTag']);
      const late = plan([incomplete('z', { stale: 0, restarted }), candidate('a')], wide, 1000, others);
      assert.deepEqual(names(late.restart), ['a'], 'the later restart explains the state');
    });
  });

  describe('with writes that got no answer', () => {
    const hold = { reason: 'Failed', message: 'no answer', isFailure: true };
    const unknown = (fields: Partial<RestartCandidate> = {}) => candidate('a', { hold, ...fields });

    const lost = (budgets: RestartCandidate['budgets'] = []) => {
      const { key, namespace, kind, name } = candidate('a');
      return { key, namespace, kind, name, budgets };
    };

    it('counts them as restarts, in the bounds and in the budgets', () => {
      const budgets = [{ name: 'shared', disruptionsAllowed: 1 }];
      const own = [unknown({ budgets }), candidate('b', { budgets })];
      const next = (isUncertain: boolean, bounds = one) =>
        names(plan(own, bounds, 1000, [], { uncertain: isUncertain ? [lost(budgets)] : [] }).restart);
      assert.deepEqual([next(false), next(true)], [['b'], []]);
      assert.deepEqual([next(false, wide), next(true, wide)], [['b'], []]);
    });

    it('may retry the same workload', () => {
      const budgets = [{ name: 'shared', disruptionsAllowed: 1 }];
      assert.deepEqual(
        names(plan([candidate('a', { budgets })], one, 1000, [], { uncertain: [lost(budgets)] }).restart),
        ['a'],
      );
    });

    it('still knows for which tag they are restarting', () => {
      const { restart, status } = plan([candidate('a')], wide, 1000, [restartedForLogs('a')], { uncertain: [lost()] });
      assert.deepEqual([names(restart), reasons(status.waiting)], [[], ['a OtherTag']]);
    });

    it('does not report them as restarting', () => {
      const { status, counts } = plan([unknown(), candidate('b')], one, 1000, [], { uncertain: [lost()] });
      assert.deepEqual([status.inProgress, counts.restarting, status.phase], [0, 0, 'Waiting']);
      assert.deepEqual(reasons(status.waiting), ['a Failed', 'b Bound']);
    });
  });
});
