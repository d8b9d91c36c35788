import assert from 'node:assert/strict';
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

/** A restart so many seconds after the beginning. */
const since = (seconds: number, of = target) => ({ target: of, at: at(seconds).getTime() });

describe('planRestarts', () => {
  it('has nothing to do where nothing is stale', () => {
    const { restart, status, at: next } = plan([candidate('a', { stale: 0 })]);
    assert.deepEqual([restart, status.phase, status.message, next], [[], 'Idle', 'nothing to restart', undefined]);
  });

  it('restarts one at a time, in the order of the names', () => {
    const { restart, status } = plan([candidate('b'), candidate('a'), candidate('c')]);
    assert.deepEqual(names(restart), ['a']);
    assert.deepEqual(reasons(status.waiting), ['a Next', 'b Bound', 'c Bound']);
  });

  it('says what has been done, not what it wants to do', () => {
    const { status, counts } = plan([candidate('a'), candidate('b')], wide);
    assert.deepEqual([status.phase, status.stale, status.inProgress], ['Waiting', 2, 0]);
    assert.equal(status.message, '2 wait; shop/Deployment/a: it is restarted next');
    assert.deepEqual([counts.restarting, counts.waiting], [0, 2]);
    const going = plan([incomplete('z', { stale: 1, restarted: since(990) }), candidate('a')], wide).status;
    assert.deepEqual([going.phase, going.message, going.inProgress], ['Restarting', '1 restarting, 1 to come', 1]);
  });

  it('keeps the bound of each namespace and that of the cluster', () => {
    const bounds = boundsOf({ maxUnavailableWorkloads: 3, perNamespace: 2 });
    const all = ['a', 'b', 'c'].flatMap((namespace) =>
      ['1', '2', '3'].map((name) => candidate(namespace + name, { namespace })),
    );
    const { restart, status } = plan(all, bounds);
    const messageOf = (name: string) => status.waiting.find((each) => each.name === name)?.message ?? '';
    assert.deepEqual(names(restart), ['a1', 'a2', 'b1']);
    assert.match(messageOf('a3'), /^2 workloads of a are restarting or are next \(perNamespace\)$/);
    assert.match(messageOf('b2'), /^3 workloads are restarting or are next \(maxUnavailableWorkloads\)$/);
  });

  for (const [title, fields, reason] of [
    ['a bare pod', { kind: 'Pod' }, 'NoController'],
    ['a Job', { kind: 'Job' }, 'Job'],
    ['a CronJob', { kind: 'CronJob' }, 'Job'],
    ['a ReplicaSet', { kind: 'ReplicaSet' }, 'UnknownKind'],
    ["Argo's Rollout", { kind: 'Rollout' }, 'UnknownKind'],
    ['a paused Deployment', { paused: true }, 'Paused'],
    ['a StatefulSet that waits for deletions', { kind: 'StatefulSet', updateType: 'OnDelete' }, 'OnDelete'],
    ['what somebody wants left alone', { isExcluded: true }, 'Excluded'],
    ['what was injected by hand', { isInjectedByHand: true }, 'InjectedByHand'],
    ['a StatefulSet with a partition', { kind: 'StatefulSet', partition: 1 }, 'Partitioned'],
    ['what somebody else knows why to leave', { leftOut: { reason: 'NotAsked', message: 'no' } }, 'NotAsked'],
    ['what was restarted for this already', { restarted: since(0) }, 'StillStale'],
    ['what somebody has turned back', { restarted: { target, at: at(0).getTime(), isLost: true } }, 'Reverted'],
  ] as const) {
    it(`reports ${title} instead of touching it, and goes on with others`, () => {
      const { restart, status } = plan([candidate('a', fields), candidate('b')]);
      const said = [names(restart), reasons(status.untouched), reasons(status.waiting)];
      assert.deepEqual(said, [['b'], [`a ${reason}`], ['b Next']]);
      const alone = plan([candidate('a', fields)]).status;
      assert.equal(alone.phase, 'Idle');
      const named = /^nothing to restart; 1 left to somebody else: shop\/\w+\/a: .*$/;
      assert.match(alone.message, named);
    });
  }

  for (const [kind, updateType] of [
    ['StatefulSet', 'RollingUpdate'],
    ['DaemonSet', 'RollingUpdate'],
    ['Deployment', 'Recreate'],
    ['Deployment', undefined],
  ] as const) {
    it(`restarts a ${kind} (${updateType ?? 'by its default'})`, () => {
      assert.equal(plan([candidate('a', { kind, ...(updateType && { updateType }) })]).restart.length, 1);
    });
  }

  it('leaves alone what is not complete, unless that is our doing', () => {
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

  it('turns round what is restarting for another target without counting it twice, and first of all', () => {
    const late = incomplete('a', { restarted: since(100, older), stale: 1 });
    const { restart, status } = plan([late, candidate('b')]);
    assert.deepEqual([names(restart), status.inProgress, reasons(status.waiting)], [['a'], 1, ['a Next', 'b Bound']]);
  });

  it('turns round all of them where the bound has become smaller than what is restarting', () => {
    const restarted = since(100, older);
    const { restart, status } = plan(['a', 'b'].map((name) => incomplete(name, { restarted, stale: 1 })));
    assert.deepEqual([names(restart), status.inProgress], [['a', 'b'], 2]);
  });

  it('restarts again for the same target when its pods would have got something else in between', () => {
    const restarted = { target, at: at(0).getTime(), isOvertaken: true };
    assert.deepEqual(names(plan([candidate('a', { restarted })]).restart), ['a']);
    const running = incomplete('a', { restarted: { ...restarted, at: at(999).getTime() } });
    assert.deepEqual(names(plan([running]).restart), ['a'], 'turned round');
  });

  it('names twenty of those that wait', () => {
    const { status } = plan(Array.from({ length: 50 }, (_, index) => candidate(`w${String(index).padStart(2, '0')}`)));
    assert.deepEqual([status.stale, status.waiting.length], [50, 20]);
    const pods = plan(Array.from({ length: 50 }, (_, index) => candidate(`w${index}`, { kind: 'Pod' })));
    assert.equal(pods.status.untouched.length, 20);
  });

  it('counts all of them, also those that the status does not name', () => {
    const { counts } = plan([
      ...Array.from({ length: 30 }, (_, index) => candidate(`w${index}`)),
      ...Array.from({ length: 25 }, (_, index) => candidate(`p${index}`, { kind: 'Pod' })),
    ]);
    assert.deepEqual(counts, { stale: 55, restarting: 0, waiting: 30, failing: 0, untouched: 25 });
  });

  it('holds what something else holds, and it takes no place of the bounds', () => {
    const hold = { reason: 'Refused', message: 'no' };
    const { restart, status } = plan([candidate('a', { hold }), candidate('b')]);
    assert.deepEqual([names(restart), reasons(status.waiting)], [['b'], ['a Refused', 'b Next']]);
  });

  it('keeps each text within what the status may hold', () => {
    const hold = { reason: 'Refused', message: 'x'.repeat(5000) };
    const { status } = plan([candidate('a', { hold })]);
    assert.deepEqual([status.message.length, status.waiting[0]?.message.length], [2048, 2048]);
  });

  it('counts those whose writes fail among those that wait', () => {
    const hold = (reason: string, isFailure: boolean) => ({ hold: { reason, message: 'no', isFailure } });
    const all = [candidate('a', hold('Failed', true)), candidate('b', hold('NotServed', false)), candidate('c')];
    const { counts } = plan(all);
    assert.deepEqual([counts.waiting, counts.failing], [3, 1]);
  });

  it('comes last to those where writes fail, unless it is to blame for how they are', () => {
    const deferred = { isDeferred: true };
    const own = [candidate('a', deferred), candidate('b', deferred), candidate('c')];
    assert.deepEqual(names(plan(own, wide).restart), ['c', 'a', 'b']);
    const inOrder = ['a Bound', 'b Bound', 'c Next'];
    assert.deepEqual(reasons(plan(own).status.waiting), inOrder, 'named in order all the same');
    const blamed = incomplete('z', { ...deferred, restarted: since(900, older) });
    assert.deepEqual(names(plan([candidate('c'), blamed], wide).restart), ['z', 'c']);
  });
});

describe('planRestarts, when what was restarted gets worse,', () => {
  it('stops while a restarted one is not complete in time, and goes on when it is', () => {
    const restarted = since(0);
    const bounds = boundsOf({ maxUnavailableWorkloads: 10, perNamespace: 10 });
    const late = ['p', 'q', 'r', 's'].map((name) => incomplete(name, { stale: 0, restarted }));
    const { restart, status } = plan([...late, candidate('a')], bounds, 600);
    assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
    assert.equal(
      status.message,
      `nothing more is restarted: ${['p', 'q', 'r'].map((name) => `shop/Deployment/${name}: restarted and not complete in time (readyTimeout)`).join('; ')}; and 1 more`,
    );
    const { message } = plan([late[0]!, candidate('a')], bounds, 600).status;
    assert.match(message, /: shop\/Deployment\/p: restarted and not complete/);
    assert.deepEqual(names(plan([...late, candidate('a')], bounds, 599).restart), ['a']);
    const recovered = candidate('p', { stale: 0, restarted, completeSince: at(700).getTime() });
    assert.deepEqual(names(plan([recovered, candidate('a')], bounds, 710).restart), ['a']);
  });

  it('does not stop while a restarted one comes further, however long all of it takes', () => {
    const restarted = since(0);
    const slow = incomplete('z', { stale: 0, restarted, progressedAt: at(500).getTime() });
    const going = plan([slow, candidate('a')], one, 1099);
    assert.deepEqual([going.status.phase, going.at], ['Restarting', at(1100).getTime()]);
    assert.equal(plan([slow, candidate('a')], one, 1100).status.phase, 'Stopped');
    const earlier = incomplete('z', { stale: 0, restarted, progressedAt: at(-500).getTime() });
    assert.equal(plan([earlier, candidate('a')], one, 599).status.phase, 'Restarting');
  });

  it('does not take what fails a day later for its own doing', () => {
    const day = 24 * 3600;
    const failing = incomplete('z', { stale: 0, restarted: since(0) });
    assert.equal(plan([failing, candidate('a')], one, day - 1).status.phase, 'Stopped');
    assert.deepEqual(names(plan([failing, candidate('a')], one, day).restart), ['a']);
  });

  describe('when pods crash', () => {
    const restarted = since(990);

    it('stops at once', () => {
      const { restart, status } = plan([incomplete('z', { stale: 0, restarted, crashing: 2 }), candidate('a')], wide);
      assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
      const sentence = 'nothing more is restarted: shop/Deployment/z: restarted, and 2 of its new pods crash';
      assert.equal(status.message, sentence);
    });

    it('stops also when it had been complete, and when nothing else is to do', () => {
      const done = { stale: 0, restarted, crashing: 1, completedFor: 60_000 };
      assert.equal(plan([incomplete('z', done), candidate('a')], wide).status.phase, 'Stopped');
      assert.equal(plan([candidate('z', done)], wide).status.phase, 'Stopped');
    });

    it('does not stop for pods of another target, a day later, or after the restart of another tag', () => {
      const crashing = (fields: object) => incomplete('z', { stale: 0, crashing: 1, restarted, ...fields });
      const other: OtherRestart = { ...restartedForLogs('z'), at: at(995).getTime() };
      const forOlder = crashing({ restarted: { ...restarted, target: older } });
      assert.equal(plan([forOlder, candidate('a')], wide).restart.length, 1);
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
    const restarted = since(900);
    const bare = candidate('z', { stale: 0, restarted, uninjected: 2 });
    const { restart, status } = plan([bare, candidate('a')]);
    assert.deepEqual([names(restart), status.phase], [[], 'Stopped']);
    assert.match(status.message, /shop\/Deployment\/z: restarted, and 2 of its new pods have no sidecar/);
  });

  it('stops when the last three that were restarted are as stale as before', () => {
    const restartedAt = (seconds: number, fields: object = {}) =>
      candidate(`w${seconds}`, { restarted: since(seconds), ...fields });
    const three = [100, 200, 300].map((seconds) => restartedAt(seconds));
    const { restart, status } = plan([...three, candidate('a')]);
    assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
    const usual = /Deployment\/w300: restarted, and still has .*\/w200: .*\/w100: .* stale pods: see why$/;
    assert.match(status.message, usual);
    const goesOn = (...others: RestartCandidate[]) => names(plan([...others, candidate('a')]).restart).join();
    assert.equal(goesOn(...three.slice(1)), 'a', 'two are not enough');
    assert.equal(goesOn(...three, restartedAt(400, { stale: 0 })), 'a', 'the latest one was of use');
    const forOther = restartedAt(100, { restarted: since(100, older) });
    assert.equal(goesOn(...three.slice(1), forOther), 'a', 'one was for another target');
    assert.equal(goesOn(restartedAt(50, { stale: 0 }), ...three), '', 'what was before does not matter');
    assert.equal(plan(three).status.phase, 'Idle', 'where nothing is left to restart nothing stops');
  });
});

describe('planRestarts, by how far workloads have come,', () => {
  it('counts those that are restarting, by the annotation alone', () => {
    const { restart, status, at: next } = plan([incomplete('z', { stale: 1, restarted: since(990) }), candidate('a')]);
    assert.deepEqual([names(restart), status.inProgress, status.stale, status.untouched], [[], 1, 2, []]);
    assert.equal(next, at(990 + 600).getTime(), 'when it is late');
  });

  it('waits until a restarted one has been complete for long enough', () => {
    const restarted = since(900);
    const done = (since: number) => candidate('z', { stale: 0, restarted, completeSince: at(since).getTime() });
    const waiting = plan([done(995), candidate('a')]);
    assert.deepEqual([names(waiting.restart), waiting.at], [[], at(1005).getTime()]);
    assert.deepEqual(names(plan([done(990), candidate('a')]).restart), ['a']);
    assert.deepEqual(names(plan([done(0), candidate('a')], one, 905).restart), [], 'what was before does not count');
  });

  it('is at it until it has been complete for long enough once, and not again when it is scaled later', () => {
    const restarted = since(900);
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
    const z = incomplete('z', { stale: 0, restarted: since(1000 + 25 * 3600) });
    assert.deepEqual(names(plan([z, candidate('a')]).restart), ['a']);
    const done = candidate('z', { stale: 0, restarted: since(2000), completeSince: at(1000).getTime() });
    assert.deepEqual(names(plan([done, candidate('a')], one, 1010).restart), ['a'], 'complete is complete');
    assert.deepEqual(names(plan([done, candidate('a')], one, 1009).restart), []);
  });
});
