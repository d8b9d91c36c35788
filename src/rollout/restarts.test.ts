import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { RestartStatus } from '../api/rollout-status.ts';
import { restartStatusSchema } from '../api/rollout-status.ts';
import { planRestarts, type RestartCandidate, type RestartPlan } from './restarts.ts';
import { at, boundsOf, second, start } from './testdata/situation.ts';

const one = boundsOf({});
const target = 'new.00000002';
const older = 'old.00000001';

function candidate(name: string, fields: Partial<RestartCandidate> = {}): RestartCandidate {
  return {
    namespace: 'shop',
    kind: 'Deployment',
    name,
    stale: 2,
    target,
    paused: false,
    completeSince: start,
    budgets: [],
    ...fields,
  };
}

/** Without a completeSince. */
function incomplete(name: string, fields: Partial<RestartCandidate> = {}): RestartCandidate {
  return withoutCompletion(candidate(name, fields));
}

function withoutCompletion<T extends RestartCandidate>(given: T): T {
  const rest = { ...given };
  delete (rest as { completeSince?: number }).completeSince;
  return rest;
}

function plan(candidates: readonly RestartCandidate[], bounds = one, seconds = 1000): RestartPlan {
  const made = planRestarts(candidates, bounds, at(seconds).getTime());
  assert.deepEqual(restartStatusSchema.parse(made.status), made.status);
  return made;
}

const names = (candidates: readonly { name: string }[]): string[] => candidates.map(({ name }) => name);
const reasons = (list: RestartStatus['waiting']): string[] => list.map(({ name, reason }) => `${name} ${reason}`);

describe('planRestarts', () => {
  it('has nothing to do where nothing is stale', () => {
    const { restart, status, at: next } = plan([candidate('a', { stale: 0 })]);
    assert.deepEqual([restart, status.phase, status.message, next], [[], 'Idle', 'nothing to restart', undefined]);
  });

  it('restarts one at a time, in the order of the names', () => {
    const { restart, status } = plan([candidate('b'), candidate('a'), candidate('c')]);
    assert.deepEqual(names(restart), ['a']);
    assert.deepEqual(reasons(status.waiting), ['b Bound', 'c Bound']);
    assert.deepEqual(
      [status.phase, status.message, status.stale, status.inProgress],
      ['Restarting', '1 restarting, 2 to come', 3, 1],
    );
  });

  it('keeps the bound of each namespace and that of the cluster', () => {
    const bounds = boundsOf({ maxUnavailableWorkloads: 3, perNamespace: 2 });
    const all = ['a', 'b', 'c'].flatMap((namespace) =>
      ['1', '2', '3'].map((name) => candidate(namespace + name, { namespace })),
    );
    const { restart, status } = plan(all, bounds);
    assert.deepEqual(names(restart), ['a1', 'a2', 'b1']);
    assert.match(status.waiting[0]?.message ?? '', /2 workloads of a are restarting \(perNamespace\)/);
    assert.match(status.waiting[1]?.message ?? '', /3 workloads are restarting \(maxUnavailableWorkloads\)/);
  });

  it('counts those that are restarting, by the annotation alone', () => {
    const restarted = { target, at: at(990).getTime() };
    const { restart, status, at: next } = plan([incomplete('z', { stale: 1, restarted }), candidate('a')]);
    assert.deepEqual([names(restart), status.inProgress, status.stale], [[], 1, 2]);
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

  it('stops while a restarted one is not complete in time, and goes on when it is', () => {
    const restarted = { target, at: at(0).getTime() };
    const bounds = boundsOf({ maxUnavailableWorkloads: 10, perNamespace: 10 });
    const late = ['p', 'q', 'r', 's'].map((name) => incomplete(name, { stale: 0, restarted }));
    const { restart, status } = plan([...late, candidate('a')], bounds, 600);
    assert.deepEqual([names(restart), status.phase, reasons(status.waiting)], [[], 'Stopped', ['a Stopped']]);
    assert.equal(
      status.message,
      'nothing more is restarted: shop/Deployment/p, shop/Deployment/q, shop/Deployment/r and 1 more: restarted and not complete in time (readyTimeout)',
    );
    assert.match(
      plan([late[0]!, candidate('a')], bounds, 600).status.message,
      /: shop\/Deployment\/p: restarted and not complete/,
    );
    assert.deepEqual(names(plan([...late, candidate('a')], bounds, 599).restart), ['a']);
    const recovered = candidate('p', { stale: 0, restarted, completeSince: at(700).getTime() });
    assert.deepEqual(names(plan([recovered, candidate('a')], bounds, 710).restart), ['a']);
  });

  it('does not take what fails a day later for its own doing', () => {
    const restarted = { target, at: at(0).getTime() };
    const day = 24 * 3600;
    const failing = incomplete('z', { stale: 0, restarted });
    assert.equal(plan([failing, candidate('a')], one, day - 1).status.phase, 'Stopped');
    assert.deepEqual(names(plan([failing, candidate('a')], one, day).restart), ['a']);
  });

  for (const [title, fields, reason] of [
    ['a bare pod', { kind: 'Pod' }, 'NoController'],
    ['a Job', { kind: 'Job' }, 'Job'],
    ['a CronJob', { kind: 'CronJob' }, 'Job'],
    ['a ReplicaSet', { kind: 'ReplicaSet' }, 'UnknownKind'],
    ["Argo's Rollout", { kind: 'Rollout' }, 'UnknownKind'],
    ['a paused Deployment', { paused: true }, 'Paused'],
    ['a StatefulSet that waits for deletions', { kind: 'StatefulSet', updateType: 'OnDelete' }, 'OnDelete'],
    ['what was restarted for this already', { restarted: { target, at: at(0).getTime() } }, 'StillStale'],
  ] as const) {
    it(`reports ${title} instead of touching it, and goes on with others`, () => {
      const { restart, status } = plan([candidate('a', fields), candidate('b')]);
      assert.deepEqual([names(restart), reasons(status.untouched), status.waiting], [['b'], [`a ${reason}`], []]);
      const alone = plan([candidate('a', fields)]).status;
      assert.deepEqual(
        [alone.phase, alone.message],
        ['Idle', 'nothing to restart; 1 are for somebody else to restart'],
      );
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

  it('waits for a budget that allows no disruption, and goes on with others', () => {
    const budgets = [
      { name: 'some', disruptionsAllowed: 1 },
      { name: 'none', disruptionsAllowed: 0 },
    ];
    const { restart, status } = plan([candidate('a', { budgets }), candidate('b')]);
    assert.deepEqual([names(restart), reasons(status.waiting)], [['b'], ['a Budget']]);
    const alone = plan([candidate('a', { budgets })]).status;
    assert.deepEqual(
      [alone.phase, alone.message],
      ['Waiting', '1 wait; shop/Deployment/a: PodDisruptionBudget none allows no disruption now'],
    );
  });

  it('takes what it restarts from a budget that several share', () => {
    const bounds = boundsOf({ maxUnavailableWorkloads: 10, perNamespace: 10 });
    const budgets = [{ name: 'shared', disruptionsAllowed: 2 }];
    const { restart, status } = plan(
      [...['a', 'b', 'c'].map((name) => candidate(name, { budgets })), candidate('d', { budgets, namespace: 'tools' })],
      bounds,
    );
    assert.deepEqual([names(restart), reasons(status.waiting)], [['a', 'b', 'd'], ['c Budget']]);
  });

  it('leaves alone what is not complete, unless that is our doing', () => {
    const recently = { target: older, at: at(900).getTime() };
    const longAgo = { target: older, at: at(1000 - 24 * 3600).getTime() };
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
    const restarted = { target: older, at: at(100).getTime() };
    const late = incomplete('a', { restarted, stale: 1 });
    const { restart, status } = plan([late, candidate('b')]);
    assert.deepEqual([names(restart), status.inProgress, reasons(status.waiting)], [['a'], 1, ['b Bound']]);
  });

  it('turns round all of them where the bound has become smaller than what is restarting', () => {
    const restarted = { target: older, at: at(100).getTime() };
    const { restart, status } = plan(['a', 'b'].map((name) => incomplete(name, { restarted, stale: 1 })));
    assert.deepEqual([names(restart), status.inProgress], [['a', 'b'], 2]);
  });

  it('names twenty of those that wait', () => {
    const { status } = plan(Array.from({ length: 50 }, (_, index) => candidate(`w${String(index).padStart(2, '0')}`)));
    assert.deepEqual([status.stale, status.waiting.length], [50, 20]);
    const pods = plan(Array.from({ length: 50 }, (_, index) => candidate(`w${index}`, { kind: 'Pod' })));
    assert.equal(pods.status.untouched.length, 20);
  });
});

describe('restarts, from beginning to end,', () => {
  it('keep the bounds at every moment, restart each once, and leave nothing stale, whoever is killed', () => {
    const history = fc.record({
      workloads: fc.array(
        fc.record({ namespace: fc.constantFrom('a', 'b', 'c'), takes: fc.integer({ min: 1, max: 60 }) }),
        { minLength: 1, maxLength: 30 },
      ),
      maxUnavailableWorkloads: fc.integer({ min: 1, max: 6 }),
      perNamespace: fc.integer({ min: 1, max: 4 }),
      killed: fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
    });
    fc.assert(
      fc.property(history, ({ workloads, killed, ...limits }) => {
        const bounds = boundsOf(limits);
        let now = start;
        const restarts = new Map<string, number>();
        let all = workloads.map(({ namespace, takes }, index) => ({ takes, ...candidate(`w${index}`, { namespace }) }));
        for (let pass = 0; pass < 3000; pass += 1) {
          const { restart, at: next } = planRestarts(all, bounds, now);
          if (restart.length === 0 && next === undefined) break;
          // A killed leader has written the first few.
          const written = new Set(names(restart.slice(0, restart.length - (killed.next().value ?? 0))));
          for (const name of written) restarts.set(name, (restarts.get(name) ?? 0) + 1);
          all = all.map((each) => {
            if (!written.has(each.name)) return each;
            return { ...withoutCompletion(each), restarted: { target, at: now } };
          });
          const busy = all.filter(
            ({ restarted, completeSince }) =>
              restarted !== undefined && (completeSince ?? Infinity) + 10 * second > now,
          );
          assert.ok(busy.length <= bounds.maxUnavailableWorkloads, 'the bound of the cluster');
          for (const namespace of ['a', 'b', 'c']) {
            assert.ok(
              busy.filter((each) => each.namespace === namespace).length <= bounds.perNamespace,
              'the bound of a namespace',
            );
          }
          now += second;
          all = all.map((each) =>
            each.restarted !== undefined &&
            each.completeSince === undefined &&
            now >= each.restarted.at + each.takes * second
              ? { ...each, completeSince: now, stale: 0 }
              : each,
          );
        }
        assert.deepEqual(
          all.filter(({ stale }) => stale > 0),
          [],
        );
        assert.deepEqual(
          [...restarts.values()],
          all.map(() => 1),
        );
      }),
      { numRuns: 100 },
    );
  });
});
