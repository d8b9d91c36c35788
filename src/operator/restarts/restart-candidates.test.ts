import assert from 'node:assert/strict';
import { Completions } from './completions.ts';
import { recordOfBudget } from './disruption-budget.ts';
import {
  type Given,
  hour,
  lookedAt,
  now,
  older,
  own,
  pods,
  record,
  restartedAt,
  rolledBackFrom,
  said,
  second,
  selectingWebhook,
  situation,
  target,
} from './testdata/situation.ts';
import { staleConfigurations, staleWorkloads } from './restart-candidates.ts';

const namespace = 'shop';
const incomplete = { status: { updatedReplicas: 1 } };
const named = (name: string) => ({ key: `shop/Deployment/${name}`, namespace, kind: 'Deployment', name });

/** A PodDisruptionBudget with this selector. */
const budgetOf = (name: string, selector: object, where = namespace) =>
  recordOfBudget({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: where },
    spec: { selector },
    status: { disruptionsAllowed: 2 },
  });

describe('restartCandidates', () => {
  it('are the workloads with stale pods that the tag takes', () => {
    const groups = [
      pods('web'),
      pods('web', { carried: 'older.00000000', records: [{}] }),
      pods('web', { state: 'current', carried: target }),
      pods('fine', { state: 'current', carried: target }),
      pods('none', { state: 'missing', carried: '' }),
      pods('elsewhere', { selectedBy: selectingWebhook({ tag: 'logs' }) }),
      pods('nobody', { selectedBy: 'nobody' }),
      pods('unpublished', { selectedBy: selectingWebhook({ hash: undefined }), state: 'current' }),
      pods('empty', { records: [] }),
    ];
    const names = ['web', 'fine', 'none', 'elsewhere', 'nobody', 'unpublished', 'empty'];
    const none = { paused: false, isExcluded: false, isInjectedByHand: false, rolledBack: false, isDeferred: false };
    assert.deepEqual(said(situation({ groups, workloads: names.map((name) => record(name)) })), {
      own: [{ ...named('web'), stale: 3, target, completeSince: 0, partition: 0, ...none, budgets: [] }],
      others: [],
    });
    assert.equal(staleWorkloads('prod', groups), 2, 'as somebody counts who looks at the pods alone');
  });

  it('have what their pods would get, whichever of the families asks', () => {
    const group = pods('web');
    const ofLogs = { state: 'stale', reason: 'x', injectorConfig: 'x', carried: undefined, isUser: true } as const;
    group.judgements = [
      { ...ofLogs, selectedBy: undefined },
      { ...ofLogs, selectedBy: selectingWebhook({ tag: 'logs', injectorConfig: 'logs' }) },
      ...group.judgements,
    ];
    const [web, ...others] = own({ groups: [group] });
    assert.deepEqual([web?.target, others], [target, []]);
  });

  it('have what is known of the workload', () => {
    const spec = { paused: true, strategy: { type: 'Recreate' } };
    const [web] = own({ workloads: [record('web', [], { spec, status: { updatedReplicas: 1 } })] });
    assert.deepEqual([web?.paused, web?.updateType, web?.completeSince], [true, 'Recreate', undefined]);
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
    const groups = [pods('web', { kind: 'StatefulSet' })];
    const [set] = own({ groups, workloads: [record('web', [], { spec: { updateStrategy } }, 'StatefulSet')] });
    assert.deepEqual([set?.kind, set?.partition], ['StatefulSet', 2]);
  });

  it('have the budgets that cover them', () => {
    const [web, db] = ['web', 'db'].map((app) => ({ matchLabels: { app } })) as [object, object];
    const budgets = [budgetOf('a', web), budgetOf('b', db), budgetOf('c', web, 'tools'), budgetOf('d', web)];
    const workloads = [record('web'), record('db', [restartedAt(now, older, 'logs')], incomplete)];
    const found = situation({ budgets, workloads });
    const allowed = (...names: string[]) => names.map((name) => ({ name, disruptionsAllowed: 2 }));
    assert.deepEqual(found.own[0]?.budgets, allowed('a', 'd'));
    assert.deepEqual(found.others[0]?.budgets, allowed('b'));
  });

  it('are left out where the webhook, or what would make their pods, is gone', () => {
    const unpublished = [pods('web', { selectedBy: selectingWebhook({ hash: undefined }) })];
    const why = (given: Given) => own(given).map(({ stale, leftOut }) => `${stale} ${leftOut?.reason}`);
    assert.deepEqual([why({ groups: unpublished }), why({ workloads: [] })], [['2 NotPublished'], ['2 NoController']]);
  });

  it('are without those that are going', () => {
    const leaving = record('web', [restartedAt(now)], { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    assert.deepEqual(situation({ workloads: [leaving] }), { own: [], others: [] });
  });

  it('are also those that nothing can be done about', () => {
    const kinds = ['Pod', 'Job', 'CronJob', 'ReplicaSet', 'Rollout'];
    const found = own({ groups: kinds.map((kind) => pods('x', { kind })) });
    const said = found.map(({ kind, stale }) => `${kind} ${stale}`);
    assert.equal(said.join(), 'Pod 2,Job 2,CronJob 2,ReplicaSet 2,Rollout 2');
    assert.deepEqual(own({ groups: [pods('x', { kind: 'Pod', state: 'current' })] }), []);
  });

  it('are also those that were restarted for the tag, with and without pods', () => {
    const at = now - 10 * second;
    const workloads = [record('fine', [restartedAt(at)]), record('gone', [restartedAt(at, older)])];
    const [fine, gone] = own({ workloads, groups: [pods('fine', { state: 'current', carried: target })] });
    const restarted = { at, isLost: false, isOvertaken: false };
    assert.deepEqual([fine?.stale, fine?.target, fine?.restarted], [0, target, { ...restarted, target }]);
    assert.deepEqual([gone?.stale, gone?.target, gone?.restarted], [0, older, { ...restarted, target: older }]);
    assert.equal(fine?.completeSince, now - 60 * second);
  });

  it('are not those that were restarted a day ago and have nothing stale', () => {
    const groups = [pods('web', { state: 'current' })];
    assert.deepEqual(own({ groups, workloads: [record('web', [restartedAt(now - 24 * hour)])] }), []);
    const [stale] = own({ workloads: [record('web', [restartedAt(now - 24 * hour)])] });
    assert.equal(stale?.restarted?.target, target, 'it is remembered that it was of no use');
  });

  it('ask for no budgets where nothing is stale and all is complete', () => {
    const covering = (state: string, fields: object) => {
      const workloads = [record('web', [restartedAt(now - 60 * second)], fields)];
      return own({ budgets: [budgetOf('a', {})], groups: [pods('web', { state })], workloads })[0]?.budgets.length;
    };
    assert.deepEqual([covering('current', {}), covering('stale', {}), covering('current', incomplete)], [0, 1, 1]);
  });

  it('have nothing to say of a restart where somebody wants the workload left alone', () => {
    const metadata = { annotations: { 'sidecar-injector.io/restart': 'false' } };
    const health = { ready: false, restarts: 9, crashing: true };
    const bad = pods('web', { records: [{ createdAt: now / second, health }] });
    const workloads = [record('web', [restartedAt(now - 5 * second)], { metadata, ...incomplete })];
    const [web, ...others] = own({ workloads, groups: [bad] });
    assert.deepEqual([web?.isExcluded, web?.restarted, web?.crashing, others], [true, undefined, undefined, []]);
    assert.deepEqual(situation({ workloads, groups: [] }), { own: [], others: [] });
    assert.deepEqual(situation({ workloads, groups: [], tag: 'logs' }), { own: [], others: [] });
  });

  describe('beside other tags', () => {
    const at = now - 10 * second;

    it('are what was restarted for them last', () => {
      const both = [restartedAt(at, 'logs.00000009', 'logs'), restartedAt(at - 1, older)];
      const found = situation({ workloads: [record('web', both, incomplete)] });
      assert.deepEqual(said(found.others), [{ ...named('web'), tag: 'logs', at, budgets: [] }]);
      assert.deepEqual([found.own[0]?.stale, found.own[0]?.restarted?.at], [2, at - 1]);
    });

    it('are not what was restarted for them a day ago, or for this tag since', () => {
      const day = record('web', [restartedAt(now - 24 * hour, older, 'logs')]);
      assert.deepEqual(situation({ workloads: [day] }).others, []);
      const since = record('web', [restartedAt(at), restartedAt(at - 1, older, 'logs')]);
      assert.deepEqual(situation({ workloads: [since] }).others, []);
    });

    it('have how far they have come', () => {
      const [web] = situation({ workloads: [record('web', [restartedAt(at, older, 'logs')])] }).others;
      assert.equal(web?.completeSince, now - 60 * second);
    });
  });

  it('are, for a rollback alone, only those with the canary that was rolled back', () => {
    const groups = [
      pods('web'),
      pods('bad', { carried: 'bad.00000003' }),
      pods('worse', { carried: 'bad.00000004,new.00000003' }),
    ];
    const workloads = ['web', 'bad', 'worse'].map((name) => record(name));
    const of = (given: Given) =>
      own({ groups, workloads, ...given })
        .map(({ name, rolledBack, leftOut }) => `${name} ${rolledBack} ${leftOut?.reason}`)
        .join();
    const asked = 'web false NotAsked,bad true undefined,worse false NotAsked';
    assert.equal(of({ isRollbackOnly: true, rolledBackFrom }), asked);
    assert.equal(of({ rolledBackFrom }), 'web false undefined,bad true undefined,worse false undefined');
    const both = [pods('web'), pods('web', { carried: 'bad.00000003', records: [{}] })];
    assert.equal(of({ isRollbackOnly: true, rolledBackFrom, groups: both }), 'web true undefined');
  });

  describe('know that a restart does not count any more', () => {
    const at = now - 10 * second;
    const overtaken = (given: Given) => own(given).map(({ restarted }) => restarted?.isOvertaken);

    it('once the pods would have got something else', () => {
      const completions = new Completions();
      const web = record('web', [restartedAt(at, older)]);
      completions.note(web, now);
      const { overtaken: found } = lookedAt({ workloads: [web], completions });
      assert.deepEqual(found, [web]);
      completions.overtake(web, 'prod');
      const selectedBy = selectingWebhook({ injectorConfig: 'old', hash: '00000001' });
      const back = { workloads: [web], groups: [pods('web', { selectedBy })] };
      assert.deepEqual(overtaken({ ...back, completions }), [true]);
      assert.deepEqual(overtaken(back), [false], 'a new leader');
    });

    it('when the rollout began later', () => {
      const workloads = [record('web', [restartedAt(at)])];
      assert.deepEqual(overtaken({ workloads, rolloutStartedAt: at + 1 }), [true]);
      assert.deepEqual(overtaken({ workloads, rolloutStartedAt: at }), [false]);
    });
  });

  it('know that somebody has taken the annotation away, or turned it back', () => {
    const at = now - 10 * second;
    const completions = new Completions();
    completions.note(record('web', [restartedAt(at)]), now - 9 * second);
    for (const left of [record('web'), record('web', [restartedAt(at - hour, older)])]) {
      completions.note(left, now - 8 * second);
      const [web] = own({ workloads: [left], completions });
      assert.deepEqual(web?.restarted, { target, at, isLost: true, isOvertaken: false });
    }
  });
});

describe('staleConfigurations', () => {
  it('names what the stale pods of a workload have, each once', () => {
    const groups = [
      { group: pods('web', { carried: 'b.22222222' }), state: 'stale' },
      { group: pods('web', { carried: 'a.11111111' }), state: 'stale' },
      { group: pods('web', { carried: 'b.22222222,logs.33333333' }), state: 'stale' },
      { group: pods('web', { carried: 'c.44444444' }), state: 'current' },
      { group: pods('web', { carried: '' }), state: 'stale' },
    ] as const;
    assert.deepEqual(staleConfigurations(groups), ['a.11111111', 'b.22222222', 'logs.33333333']);
  });
});

describe('newPods of a workload that was restarted: counted are those that the restart has made', () => {
  const minute = 60 * second;
  const at = now - 500;
  const made = Math.floor(at / second);
  const bad = { ready: false, restarts: 0, crashing: true };
  /** What is counted so many minutes after the restart, of one pod that came so many seconds after it. */
  const counted = (
    [seconds, health]: readonly [seconds: number, health: object | undefined],
    { minutes = 1, state = 'current', isComplete = true } = {},
  ) => {
    const does = health && { health: { ready: false, restarts: 0, crashing: false, ...health } };
    const records = [{ createdAt: made + seconds, ...does }];
    const web = record('web', [restartedAt(at)], isComplete ? {} : { status: { updatedReplicas: 1 } });
    const groups = [pods('web', { state, records })];
    const [found] = own({ workloads: [web], groups, now: at + minutes * minute });
    return [found?.crashing, found?.uninjected];
  };

  it('and that crash', () => {
    assert.deepEqual(counted([1, bad]), [1, 0]);
    assert.deepEqual(counted([1, {}]), [0, 0]);
    assert.deepEqual(counted([1, undefined]), [0, 0]);
    assert.deepEqual(counted([1, { restarts: 3 }]), [1, 0]);
    assert.deepEqual(counted([1, { restarts: 2 }]), [0, 0]);
    assert.deepEqual(counted([1, bad], { state: 'stale' }), [1, 0]);
  });

  it('and not those from before, to the second', () => {
    assert.deepEqual(counted([-1, bad]), [0, 0]);
    assert.deepEqual(counted([0, bad]), [1, 0]);
    assert.deepEqual(counted([0, bad], { state: 'stale' }), [0, 0]);
  });

  it('and not those that came later by something else', () => {
    assert.deepEqual(counted([599, bad]), [1, 0]);
    assert.deepEqual(counted([601, bad]), [0, 0]);
    assert.deepEqual(counted([601, bad], { isComplete: false }), [1, 0], 'it is still at it');
  });

  it('of one that took long also those that it has made late', () => {
    const web = record('web', [restartedAt(at)]);
    const completions = new Completions();
    completions.note(record('web', [restartedAt(at)], { status: { updatedReplicas: 1 } }), at + minute);
    completions.note(web, at + 40 * minute);
    const late = pods('web', { state: 'current', records: [{ createdAt: made + 45 * 60, health: bad }] });
    const [found] = own({ workloads: [web], groups: [late], completions, now: at + 46 * minute });
    assert.equal(found?.crashing, 1);
  });

  it('and later on only those that have crashed ever since', () => {
    assert.deepEqual(counted([1, bad], { minutes: 9 }), [1, 0]);
    assert.deepEqual(counted([1, bad], { minutes: 11 }), [0, 0]);
    assert.deepEqual(counted([1, { restarts: 3 }], { minutes: 11 }), [1, 0]);
    assert.deepEqual(counted([1, { restarts: 9 }], { minutes: 120 }), [1, 0]);
    assert.deepEqual(counted([1, { restarts: 7 }], { minutes: 120 }), [0, 0]);
  });

  it('and that have no sidecar', () => {
    assert.deepEqual(counted([1, {}], { state: 'missing' }), [0, 1]);
    assert.deepEqual(counted([1, bad], { state: 'missing' }), [1, 1]);
    assert.deepEqual(counted([-1, {}], { state: 'missing' }), [0, 0]);
  });

  it('and none of a workload that was not restarted', () => {
    const groups = [pods('web', { records: [{ createdAt: made, health: bad }] })];
    assert.equal(own({ groups })[0]?.crashing, undefined);
  });
});
