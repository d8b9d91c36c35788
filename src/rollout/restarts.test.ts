import assert from 'node:assert/strict';
import { FairShares } from './fair-shares.ts';
import { atOnce } from '../steps/steps.ts';
import { planRestarts } from './restarts.ts';
import { whyDenied } from './restart-reasons.ts';
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
import type { OtherRestart, RestartCandidate } from './restart-candidate.ts';

/** Returns a restart some seconds after the start. */
const since = (seconds: number, of = target) => ({ target: of, at: at(seconds).getTime() });

describe('planRestarts', () => {
  it('does nothing if there are no stale pods', () => {
    const { restart, status, at: next } = plan([candidate('a', { stale: 0 })]);
    assert.deepEqual([restart, status.phase, status.message, next], [[], 'Idle', 'nothing to restart', undefined]);
  });

  it('restarts one workload at a time, by name', () => {
    const { restart, status } = plan([candidate('b'), candidate('a'), candidate('c')]);
    assert.deepEqual(names(restart), ['a']);
    assert.deepEqual(reasons(status.waiting), ['a Next', 'b Bound', 'c Bound']);
  });

  it('counts only completed writes as restarting', () => {
    const { status, counts } = plan([candidate('a'), candidate('b')], wide);
    assert.deepEqual([status.phase, status.stale, status.inProgress], ['Waiting', 2, 0]);
    assert.equal(status.message, '2 waiting; shop/Deployment/a: it is restarted next');
    assert.deepEqual([counts.restarting, counts.waiting], [0, 2]);
    const going = plan([incomplete('z', { stale: 1, restarted: since(990) }), candidate('a')], wide).status;
    assert.deepEqual([going.phase, going.message, going.inProgress], ['Restarting', '1 restarting, 1 to come', 1]);
  });

  it('does not blame an earlier restart for updates in place', () => {
    // A restart for this target, an update in place to another one and a new leader, which has not
    // seen that, and an update in place back.
    const restarted = since(10);
    const all = ['a', 'b', 'c', 'd'].map((name) => candidate(name, { restarted, isInPlace: true }));
    assert.deepEqual(names(plan(all).restart), ['a']);
    const [first, ...others] = all;
    const updated = incomplete('a', { ...first, completeSince: undefined, updating: 1 });
    const { status } = plan([updated, ...others]);
    assert.deepEqual([status.phase, status.message], ['Restarting', '1 restarting, 3 to come']);
  });

  it('respects the bounds of each namespace and of the cluster', () => {
    const all = ['a', 'b'].flatMap((namespace) =>
      ['1', '2', '3'].map((name) => candidate(namespace + name, { namespace })),
    );
    const planned = (maxUnavailableWorkloads: number) => {
      const { restart, status } = plan(all, boundsOf({ maxUnavailableWorkloads, perNamespace: 2 }));
      return [names(restart), status.waiting.find(({ name }) => name === 'a3')?.message] as const;
    };
    const [some, full] = planned(3);
    assert.deepEqual(some, ['a1', 'b1', 'a2']);
    assert.match(full ?? '', /^3 workloads are restarting or about to restart, .*\(maxUnavailableWorkloads\)$/);
    const [more, fullHere] = planned(5);
    assert.deepEqual(more, ['a1', 'b1', 'a2', 'b2']);
    assert.match(fullHere ?? '', /^2 workloads in namespace a are restarting or about to restart.*\(perNamespace\)$/);
  });

  it('lets namespaces take turns: 240 workloads of one cost 20 of another at most twice the time', () => {
    const shares = new FairShares();
    const many = (count: number, namespace: string): RestartCandidate[] =>
      Array.from({ length: count }, (_, index) => candidate(`${index}`, { namespace }));
    let own = [...many(240, 'a'), ...many(20, 'shop')];
    let turns = 0;
    for (; own.some(({ namespace }) => namespace === 'shop'); turns += 1) {
      const [next] = atOnce(planRestarts({ own, others: [], shares }, one, at(1000).getTime())).restart;
      shares.serve(next?.namespace ?? '');
      own = own.filter((each) => each !== next);
    }
    assert.equal(turns, 40);
  });

  for (const [title, fields, reason] of [
    ['a bare pod', { kind: 'Pod' }, 'NoController'],
    ['a Job', { kind: 'Job' }, 'Job'],
    ['a CronJob', { kind: 'CronJob' }, 'Job'],
    ['a ReplicaSet', { kind: 'ReplicaSet' }, 'UnknownKind'],
    ["Argo's Rollout", { kind: 'Rollout' }, 'UnknownKind'],
    ['a paused Deployment', { paused: true }, 'Paused'],
    ['a StatefulSet with strategy OnDelete', { kind: 'StatefulSet', updateType: 'OnDelete' }, 'OnDelete'],
    ['an excluded workload', { isExcluded: true }, 'Excluded'],
    ['a workload of a namespace that denies updates', { denied: whyDenied('deny') }, 'Denied'],
    ['an injected pod template', { isInjectedByHand: true }, 'InjectedByHand'],
    ['a StatefulSet with a partition', { kind: 'StatefulSet', partition: 1 }, 'Partitioned'],
    ['a workload left out by the caller', { leftOut: { reason: 'NotAsked', message: 'no' } }, 'NotAsked'],
    ['a workload restarted for this target', { restarted: since(0) }, 'StillStale'],
    ['a workload whose restart was reverted', { restarted: { target, at: at(0).getTime(), isLost: true } }, 'Reverted'],
  ] as const) {
    it(`reports ${title} instead of restarting it, and restarts other workloads`, () => {
      const { restart, status } = plan([candidate('a', fields), candidate('b')]);
      const actual = [names(restart), reasons(status.untouched), reasons(status.waiting)];
      assert.deepEqual(actual, [['b'], [`a ${reason}`], ['b Next']]);
      const alone = plan([candidate('a', fields)]).status;
      assert.equal(alone.phase, 'Idle');
      const named = /^nothing to restart; the operator does not restart 1 workloads, for example shop\/\w+\/a: .*$/;
      assert.match(alone.message, named);
    });
  }

  for (const [kind, updateType] of [
    ['StatefulSet', 'RollingUpdate'],
    ['DaemonSet', 'RollingUpdate'],
    ['Deployment', 'Recreate'],
    ['Deployment', undefined],
  ] as const) {
    it(`restarts a ${kind} with ${updateType ?? 'the default'} strategy`, () => {
      assert.equal(plan([candidate('a', { kind, ...(updateType && { updateType }) })]).restart.length, 1);
    });
  }

  it('restarts an incomplete workload only if the operator made it incomplete', () => {
    const recently = since(900, older);
    const longAgo = since(1000 - 24 * 3600, older);
    const budgets = [{ name: 'none', disruptionsAllowed: 0 }];
    const cases: readonly (readonly [RestartCandidate, string])[] = [
      [incomplete('a'), 'NotComplete'],
      [incomplete('a', { restarted: longAgo }), 'NotComplete'],
      [incomplete('a', { restarted: recently }), 'restart'],
      [incomplete('a', { restarted: recently, budgets }), 'restart'],
      [incomplete('a', { rolledBack: true }), 'restart'],
      [incomplete('a', { rolledBack: true, budgets }), 'restart'],
      [candidate('a', { rolledBack: true, budgets }), 'Budget'],
      [candidate('a', { restarted: recently, budgets }), 'Budget'],
      [incomplete('a', { rolledBack: false, budgets }), 'Budget'],
    ];
    for (const [each, expected] of cases) {
      const { restart, status } = plan([each]);
      assert.equal(restart.length === 1 ? 'restart' : status.waiting[0]?.reason, expected, JSON.stringify(each));
    }
  });

  it('outside the windows, restarts only workloads that the operator made incomplete, and plans when one opens', () => {
    const broken = incomplete('b', { restarted: since(900, older), stale: 1 });
    const opensAt = at(2000).getTime();
    const { restart, status, at: next } = plan([candidate('a'), broken, incomplete('c')], wide, 1000, [], { opensAt });
    assert.deepEqual([names(restart), reasons(status.waiting)], [['b'], ['a Window', 'b Next', 'c Window']]);
    assert.match(status.waiting[0]?.message ?? '', /^it is outside the windows of .*2026-01-01T00:33:20Z$/);
    assert.equal(next, at(1500).getTime(), 'the restart of b becomes late before the window opens');
    assert.equal(plan([candidate('a')], wide, 1000, [], { opensAt }).at, opensAt);
  });

  it('first restarts a workload that is restarting for another target, and counts it once', () => {
    const late = incomplete('a', { restarted: since(100, older), stale: 1 });
    const { restart, status } = plan([late, candidate('b')]);
    assert.deepEqual([names(restart), status.inProgress, reasons(status.waiting)], [['a'], 1, ['a Next', 'b Bound']]);
  });

  it('repeats unfinished restarts, even above a lowered bound', () => {
    const restarted = since(100, older);
    const { restart, status } = plan(['a', 'b'].map((name) => incomplete(name, { restarted, stale: 1 })));
    assert.deepEqual([names(restart), status.inProgress], [['a', 'b'], 2]);
  });

  it('restarts a workload again for the same target if the target changed in between', () => {
    const restarted = { target, at: at(0).getTime(), isOvertaken: true };
    assert.deepEqual(names(plan([candidate('a', { restarted })]).restart), ['a']);
    const running = incomplete('a', { restarted: { ...restarted, at: at(999).getTime() } });
    assert.deepEqual(names(plan([running]).restart), ['a'], 'while it restarts');
  });

  it('lists at most twenty waiting workloads', () => {
    const { status } = plan(Array.from({ length: 50 }, (_, index) => candidate(`w${String(index).padStart(2, '0')}`)));
    assert.deepEqual([status.stale, status.waiting.length], [50, 20]);
    const pods = plan(Array.from({ length: 50 }, (_, index) => candidate(`w${index}`, { kind: 'Pod' })));
    assert.equal(pods.status.untouched.length, 20);
  });

  it('counts all workloads, even if the status does not list them', () => {
    const { counts } = plan([
      ...Array.from({ length: 30 }, (_, index) => candidate(`w${index}`)),
      ...Array.from({ length: 25 }, (_, index) => candidate(`p${index}`, { kind: 'Pod' })),
    ]);
    assert.deepEqual(counts, { stale: 55, restarting: 0, waiting: 30, failing: 0, untouched: 25 });
  });

  it('does not count a workload that must wait against the bounds', () => {
    const hold = { reason: 'Refused', message: 'no' };
    const { restart, status } = plan([candidate('a', { hold }), candidate('b')]);
    assert.deepEqual([names(restart), reasons(status.waiting)], [['b'], ['a Refused', 'b Next']]);
  });

  it('cuts each message to the limit of the status schema', () => {
    const hold = { reason: 'Refused', message: 'x'.repeat(5000) };
    const { status } = plan([candidate('a', { hold })]);
    assert.deepEqual([status.message.length, status.waiting[0]?.message.length], [2048, 2048]);
  });

  it('counts workloads whose writes fail as waiting', () => {
    const hold = (reason: string, isFailure: boolean) => ({ hold: { reason, message: 'no', isFailure } });
    const all = [candidate('a', hold('Failed', true)), candidate('b', hold('NotServed', false)), candidate('c')];
    const { counts } = plan(all);
    assert.deepEqual([counts.waiting, counts.failing], [3, 1]);
  });

  it('restarts deferred workloads last, unless the operator made them incomplete', () => {
    const deferred = { isDeferred: true };
    const own = [candidate('a', deferred), candidate('b', deferred), candidate('c')];
    assert.deepEqual(names(plan(own, wide).restart), ['c', 'a', 'b']);
    const inOrder = ['a Bound', 'b Bound', 'c Next'];
    assert.deepEqual(reasons(plan(own).status.waiting), inOrder, 'listed in order');
    const blamed = incomplete('z', { ...deferred, restarted: since(900, older) });
    assert.deepEqual(names(plan([candidate('c'), blamed], wide).restart), ['z', 'c']);
  });
});

describe('planRestarts, when restarted workloads fail,', () => {
  it('stops while a restarted workload is late, and continues when it is complete', () => {
    const restarted = since(0);
    const bounds = boundsOf({ maxUnavailableWorkloads: 10, perNamespace: 10 });
    const late = ['p', 'q', 'r', 's'].map((name) => incomplete(name, { stale: 0, restarted }));
    const { restart, status } = plan([...late, candidate('a')], bounds, 600);
    assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
    assert.equal(
      status.message,
      `restarts are stopped: ${['p', 'q', 'r'].map((name) => `shop/Deployment/${name}: restarted, but not complete within readyTimeout`).join('; ')}; and 1 more`,
    );
    const { message } = plan([late[0]!, candidate('a')], bounds, 600).status;
    assert.match(message, /: shop\/Deployment\/p: restarted, but not complete/);
    assert.deepEqual(names(plan([...late, candidate('a')], bounds, 599).restart), ['a']);
    const recovered = candidate('p', { stale: 0, restarted, completeSince: at(700).getTime() });
    assert.deepEqual(names(plan([recovered, candidate('a')], bounds, 710).restart), ['a']);
  });

  it('does not stop while a slow restart makes progress', () => {
    const restarted = since(0);
    const slow = incomplete('z', { stale: 0, restarted, progressedAt: at(500).getTime() });
    const going = plan([slow, candidate('a')], one, 1099);
    assert.deepEqual([going.status.phase, going.at], ['Restarting', at(1100).getTime()]);
    assert.equal(plan([slow, candidate('a')], one, 1100).status.phase, 'Stopped');
    const earlier = incomplete('z', { stale: 0, restarted, progressedAt: at(-500).getTime() });
    assert.equal(plan([earlier, candidate('a')], one, 599).status.phase, 'Restarting');
  });

  it('ignores a failure one day after the restart', () => {
    const day = 24 * 3600;
    const failing = incomplete('z', { stale: 0, restarted: since(0) });
    assert.equal(plan([failing, candidate('a')], one, day - 1).status.phase, 'Stopped');
    assert.deepEqual(names(plan([failing, candidate('a')], one, day).restart), ['a']);
  });

  describe('when pods crash', () => {
    const restarted = since(990);

    it('stops immediately', () => {
      const { restart, status } = plan([incomplete('z', { stale: 0, restarted, crashing: 2 }), candidate('a')], wide);
      assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
      const sentence = 'restarts are stopped: shop/Deployment/z: restarted, but 2 of its new pods crash';
      assert.equal(status.message, sentence);
    });

    it('also stops after the workload was complete, and when no other workload waits', () => {
      const done = { stale: 0, restarted, crashing: 1, completedFor: 60_000 };
      assert.equal(plan([incomplete('z', done), candidate('a')], wide).status.phase, 'Stopped');
      assert.equal(plan([candidate('z', done)], wide).status.phase, 'Stopped');
    });

    it('does not stop for another target, one day later, or after a restart for another tag', () => {
      const crashing = (fields: object) => incomplete('z', { stale: 0, crashing: 1, restarted, ...fields });
      const other: OtherRestart = { ...restartedForLogs('z'), at: at(995).getTime() };
      const forOlder = crashing({ restarted: { ...restarted, target: older } });
      assert.equal(plan([forOlder, candidate('a')], wide).restart.length, 1);
      assert.equal(plan([crashing({}), candidate('a')], wide, 990 + 24 * 3600).restart.length, 1);
      assert.equal(plan([crashing({}), candidate('a')], wide, 1000, [other]).restart.length, 1);
    });

    it('restarts their workload first for another target, even if its budget is used up', () => {
      const budgets = [{ name: 'none', disruptionsAllowed: 0 }];
      const broken = { restarted: { ...restarted, target: older }, crashing: 1, completedFor: 60_000, budgets };
      const { restart, status } = plan([candidate('a'), incomplete('z', broken)]);
      assert.deepEqual([names(restart), reasons(status.waiting)], [['z'], ['a Bound', 'z Next']]);
    });
  });

  describe('when pods are refused', () => {
    const refusedIn = (namespace: string, name: string, fields: Partial<RestartCandidate> = {}) => {
      const workload = { namespace, kind: 'Deployment', name };
      const times = { since: at(980).getTime(), at: at(995).getTime() };
      const refused = { ...workload, object: `ReplicaSet ${name}-1`, message: 'no', target, ...times };
      return incomplete(name, { ...workload, stale: 1, restarted: since(979), refused, ...fields });
    };
    const web = refusedIn('shop', 'web');
    const waiting = incomplete('b', { namespace: 'bank', stale: 1, restarted: since(979) });
    const proof = (verdict: 'Proven' | 'Own') => ({ refused: { ...web.refused!, verdict } });

    it('stops, and says why', () => {
      const { restart, status } = plan([web, refusedIn('bank', 'api'), candidate('a')], wide);
      assert.deepEqual([names(restart), status.phase], [[], 'Stopped']);
      assert.equal(
        status.message,
        'restarts are stopped: bank/Deployment/api: restarted, but its new pods are refused (ReplicaSet api-1): no; shop/Deployment/web: restarted, but its new pods are refused (ReplicaSet web-1): no',
      );
    });

    const rows: [what: string, phase: string, own: RestartCandidate[]][] = [
      ['one namespace, if no other has workloads', 'Stopped', [web, candidate('a')]],
      ['one namespace, before another is restarted', 'Stopped', [web, candidate('b', { namespace: 'bank' })]],
      ['one of two namespaces', 'Restarting', [web, waiting]],
      ['a proof', 'Stopped', [refusedIn('shop', 'web', proof('Proven')), waiting]],
      [
        'pods that are invalid without a sidecar',
        'Restarting',
        [refusedIn('shop', 'web', proof('Own')), candidate('a')],
      ],
      ['a namespace that also refuses other pods', 'Restarting', [web, candidate('a', { refused: web.refused })]],
      ['an earlier target', 'Restarting', [refusedIn('shop', 'web', { restarted: since(979, older) }), candidate('a')]],
    ];
    for (const [what, phase, own] of rows) {
      it(`is ${phase} because of ${what}`, () => {
        assert.equal(plan(own, boundsOf({ maxUnavailableWorkloads: 10, minReadySeconds: 0 })).status.phase, phase);
      });
    }

    it('names the refusal when the restart is late', () => {
      const late = refusedIn('shop', 'web', { restarted: since(300) });
      const { message } = plan([late, waiting]).status;
      assert.match(message, /not complete within readyTimeout: its new pods are refused \(ReplicaSet web-1\): no$/);
    });
  });

  it('stops when new pods have no sidecar', () => {
    const restarted = since(900);
    const bare = candidate('z', { stale: 0, restarted, uninjected: 2 });
    const { restart, status } = plan([bare, candidate('a')]);
    assert.deepEqual([names(restart), status.phase], [[], 'Stopped']);
    assert.match(status.message, /shop\/Deployment\/z: restarted, but 2 of its new pods have no sidecar/);
  });

  it('stops when the last three restarted workloads are still stale', () => {
    const restartedAt = (seconds: number, fields: object = {}) =>
      candidate(`w${seconds}`, { restarted: since(seconds), ...fields });
    const three = [100, 200, 300].map((seconds) => restartedAt(seconds));
    const { restart, status } = plan([...three, candidate('a')]);
    assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
    const usual = /Deployment\/w300: restarted, but still has .*\/w200: .*\/w100: .* stale pods: find out why$/;
    assert.match(status.message, usual);
    const goesOn = (...others: RestartCandidate[]) => names(plan([...others, candidate('a')]).restart).join();
    assert.equal(goesOn(...three.slice(1)), 'a', 'two are not enough');
    assert.equal(goesOn(...three, restartedAt(400, { stale: 0 })), 'a', 'the latest restart had an effect');
    const forOther = restartedAt(100, { restarted: since(100, older) });
    assert.equal(goesOn(...three.slice(1), forOther), 'a', 'one restart was for another target');
    assert.equal(goesOn(restartedAt(50, { stale: 0 }), ...three), '', 'earlier restarts do not matter');
    assert.equal(plan(three).status.phase, 'Idle', 'without waiting workloads nothing stops');
  });
});

describe('planRestarts, with restarts in progress,', () => {
  it('finds restarts in progress by their annotation alone', () => {
    const { restart, status, at: next } = plan([incomplete('z', { stale: 1, restarted: since(990) }), candidate('a')]);
    assert.deepEqual([names(restart), status.inProgress, status.stale, status.untouched], [[], 1, 2, []]);
    assert.equal(next, at(990 + 600).getTime(), 'when the restart becomes late');
  });

  it('waits until a restarted workload has been complete for long enough', () => {
    const restarted = since(900);
    const done = (since: number) => candidate('z', { stale: 0, restarted, completeSince: at(since).getTime() });
    const waiting = plan([done(995), candidate('a')]);
    assert.deepEqual([names(waiting.restart), waiting.at], [[], at(1005).getTime()]);
    assert.deepEqual(names(plan([done(990), candidate('a')]).restart), ['a']);
    assert.deepEqual(names(plan([done(0), candidate('a')], one, 905).restart), [], 'earlier times do not count');
  });

  it('ends a restart after the workload was complete for long enough, even if it is scaled later', () => {
    const restarted = since(900);
    const scaled = (completedFor: number) => incomplete('z', { stale: 0, restarted, completedFor });
    assert.deepEqual(names(plan([scaled(9_999), candidate('a')]).restart), []);
    const { restart, status, at: next } = plan([scaled(10_000), candidate('a')], one, 5000);
    assert.deepEqual([names(restart), status.inProgress, next], [['a'], 0, undefined]);
    const none = boundsOf({ minReadySeconds: 0 });
    assert.deepEqual(names(plan([incomplete('z', { stale: 0, restarted }), candidate('a')], none).restart), []);
    const again = incomplete('z', { restarted: { ...restarted, target: older }, completedFor: 10_000 });
    assert.deepEqual(reasons(plan([again]).status.waiting), ['z NotComplete'], 'we no longer cause that');
  });

  it('does not trust an annotation from the future', () => {
    const z = incomplete('z', { stale: 0, restarted: since(1000 + 25 * 3600) });
    assert.deepEqual(names(plan([z, candidate('a')]).restart), ['a']);
    const done = candidate('z', { stale: 0, restarted: since(2000), completeSince: at(1000).getTime() });
    assert.deepEqual(names(plan([done, candidate('a')], one, 1010).restart), ['a'], 'completion counts');
    assert.deepEqual(names(plan([done, candidate('a')], one, 1009).restart), []);
  });
});
