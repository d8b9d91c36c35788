import assert from 'node:assert/strict';
import { Completions } from './completions.ts';
import { recordOfBudget } from './disruption-budget.ts';
import {
  type SituationFields,
  hour,
  inspect,
  now,
  older,
  own,
  pods,
  record,
  restartedAt,
  rolledBackFrom,
  withoutUndefined,
  second,
  selectingWebhook,
  situation,
  target,
} from './testdata/situation.ts';
import { staleConfigurations, staleWorkloads } from './restart-candidates.ts';

const namespace = 'shop';
const incomplete = { status: { updatedReplicas: 1 } };
const named = (name: string) => ({ key: `shop/Deployment/${name}`, namespace, kind: 'Deployment', name });

/** Returns a PodDisruptionBudget with this selector. */
const budgetOf = (name: string, selector: object, where = namespace) =>
  recordOfBudget({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: where },
    spec: { selector },
    status: { disruptionsAllowed: 2 },
  });

describe('restartCandidates', () => {
  it('are the workloads with stale pods that the tag selects', () => {
    const groups = [
      pods('web'),
      pods('web', { carried: 'older.00000000', records: [{}] }),
      pods('web', { state: 'current', carried: target }),
      pods('fine', { state: 'current', carried: target }),
      pods('none', { state: 'missing', carried: '' }),
      pods('elsewhere', { selectedBy: selectingWebhook({ tag: 'logs' }) }),
      pods('unselected', { selectedBy: 'none' }),
      pods('unpublished', { selectedBy: selectingWebhook({ hash: undefined }), state: 'current' }),
      pods('empty', { records: [] }),
    ];
    const names = ['web', 'fine', 'none', 'elsewhere', 'unselected', 'unpublished', 'empty'];
    const none = { paused: false, isExcluded: false, isInjectedByHand: false, rolledBack: false, isDeferred: false };
    assert.deepEqual(withoutUndefined(situation({ groups, workloads: names.map((name) => record(name)) })), {
      own: [{ ...named('web'), stale: 3, target, completeSince: 0, partition: 0, ...none, budgets: [] }],
      others: [],
    });
    assert.equal(staleWorkloads('prod', groups, { missing: false }), 2, 'includes a group without pods');
  });

  it('have the target of the tag, not the target of another family', () => {
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

  it('have the fields of the workload', () => {
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

  it('are left out if the tag has no webhook, or if the workload does not exist', () => {
    const unpublished = [pods('web', { selectedBy: selectingWebhook({ hash: undefined }) })];
    const why = (fields: SituationFields) => own(fields).map(({ stale, leftOut }) => `${stale} ${leftOut?.reason}`);
    assert.deepEqual([why({ groups: unpublished }), why({ workloads: [] })], [['2 NotPublished'], ['2 NoController']]);
  });

  it('exclude workloads that are being deleted', () => {
    const leaving = record('web', [restartedAt(now)], { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    assert.deepEqual(situation({ workloads: [leaving] }), { own: [], others: [] });
  });

  it('include kinds that cannot be restarted', () => {
    const kinds = ['Pod', 'Job', 'CronJob', 'ReplicaSet', 'Rollout'];
    const found = own({ groups: kinds.map((kind) => pods('x', { kind })) });
    const lines = found.map(({ kind, stale }) => `${kind} ${stale}`);
    assert.equal(lines.join(), 'Pod 2,Job 2,CronJob 2,ReplicaSet 2,Rollout 2');
    assert.deepEqual(own({ groups: [pods('x', { kind: 'Pod', state: 'current' })] }), []);
  });

  it('include workloads that were restarted for the tag, with and without pods', () => {
    const at = now - 10 * second;
    const workloads = [record('fine', [restartedAt(at)]), record('gone', [restartedAt(at, older)])];
    const [fine, gone] = own({ workloads, groups: [pods('fine', { state: 'current', carried: target })] });
    const restarted = { at, isLost: false, isOvertaken: false };
    assert.deepEqual([fine?.stale, fine?.target, fine?.restarted], [0, target, { ...restarted, target }]);
    assert.deepEqual([gone?.stale, gone?.target, gone?.restarted], [0, older, { ...restarted, target: older }]);
    assert.equal(fine?.completeSince, now - 60 * second);
  });

  it('exclude workloads that were restarted a day ago and have no stale pods', () => {
    const groups = [pods('web', { state: 'current' })];
    assert.deepEqual(own({ groups, workloads: [record('web', [restartedAt(now - 24 * hour)])] }), []);
    const [stale] = own({ workloads: [record('web', [restartedAt(now - 24 * hour)])] });
    assert.equal(stale?.restarted?.target, target, 'a restart without effect is remembered');
  });

  it('have no budgets if the workload is complete and has no stale pods', () => {
    const covering = (state: string, fields: object) => {
      const workloads = [record('web', [restartedAt(now - 60 * second)], fields)];
      return own({ budgets: [budgetOf('a', {})], groups: [pods('web', { state })], workloads })[0]?.budgets.length;
    };
    assert.deepEqual([covering('current', {}), covering('stale', {}), covering('current', incomplete)], [0, 1, 1]);
  });

  it('have no restart for a workload whose namespace denies updates, also for another tag', () => {
    const workloads = [record('web', [restartedAt(now - hour), restartedAt(now, older, 'logs')], incomplete)];
    const denied = { reason: 'Denied', message: 'x' };
    const { own, others } = situation({ workloads, deniedIn: (where) => (where === namespace ? denied : undefined) });
    assert.deepEqual([own[0]?.denied, own[0]?.restarted, others], [denied, undefined, []]);
  });

  it('have no restart for a workload that a user excluded', () => {
    const metadata = { annotations: { 'sidecar-injector.io/restart': 'false' } };
    const health = { ready: false, restarts: 9, crashing: true };
    const bad = pods('web', { records: [{ createdAt: now / second, health }] });
    const workloads = [record('web', [restartedAt(now - 5 * second)], { metadata, ...incomplete })];
    const [web, ...others] = own({ workloads, groups: [bad] });
    assert.deepEqual([web?.isExcluded, web?.restarted, web?.crashing, others], [true, undefined, undefined, []]);
    assert.deepEqual(situation({ workloads, groups: [] }), { own: [], others: [] });
    assert.deepEqual(situation({ workloads, groups: [], tag: 'logs' }), { own: [], others: [] });
  });

  describe('of other tags', () => {
    const at = now - 10 * second;

    it('are the workloads whose last restart was for another tag', () => {
      const both = [restartedAt(at, 'logs.00000009', 'logs'), restartedAt(at - 1, older)];
      const found = situation({ workloads: [record('web', both, incomplete)] });
      assert.deepEqual(withoutUndefined(found.others), [{ ...named('web'), tag: 'logs', at, budgets: [] }]);
      assert.deepEqual([found.own[0]?.stale, found.own[0]?.restarted?.at], [2, at - 1]);
    });

    it('exclude workloads that were restarted a day ago, or later for this tag', () => {
      const day = record('web', [restartedAt(now - 24 * hour, older, 'logs')]);
      assert.deepEqual(situation({ workloads: [day] }).others, []);
      const since = record('web', [restartedAt(at), restartedAt(at - 1, older, 'logs')]);
      assert.deepEqual(situation({ workloads: [since] }).others, []);
    });

    it('have the completion of the workload', () => {
      const [web] = situation({ workloads: [record('web', [restartedAt(at, older, 'logs')])] }).others;
      assert.equal(web?.completeSince, now - 60 * second);
    });
  });

  it('are left out, if only rollback.restart is set, unless they have the rolled-back canary', () => {
    const groups = [
      pods('web'),
      pods('bad', { carried: 'bad.00000003' }),
      pods('worse', { carried: 'bad.00000004,new.00000003' }),
    ];
    const workloads = ['web', 'bad', 'worse'].map((name) => record(name));
    const of = (fields: SituationFields) =>
      own({ groups, workloads, ...fields })
        .map(({ name, rolledBack, leftOut }) => `${name} ${rolledBack} ${leftOut?.reason}`)
        .join();
    const expected = 'web false NotAsked,bad true undefined,worse false NotAsked';
    assert.equal(of({ isRollbackOnly: true, rolledBackFrom }), expected);
    assert.equal(of({ rolledBackFrom }), 'web false undefined,bad true undefined,worse false undefined');
    const both = [pods('web'), pods('web', { carried: 'bad.00000003', records: [{}] })];
    assert.equal(of({ isRollbackOnly: true, rolledBackFrom, groups: both }), 'web true undefined');
  });

  describe('have an overtaken restart', () => {
    const at = now - 10 * second;
    const overtaken = (fields: SituationFields) => own(fields).map(({ restarted }) => restarted?.isOvertaken);

    it('once the target has changed', () => {
      const completions = new Completions();
      const web = record('web', [restartedAt(at, older)]);
      completions.note(web, now);
      const { overtaken: found } = inspect({ workloads: [web], completions });
      assert.deepEqual(found, [web]);
      completions.overtake(web, 'prod');
      const selectedBy = selectingWebhook({ injectorConfig: 'old', hash: '00000001' });
      const back = { workloads: [web], groups: [pods('web', { selectedBy })] };
      assert.deepEqual(overtaken({ ...back, completions }), [true]);
      assert.deepEqual(overtaken(back), [false], 'a new leader does not know about the change');
    });

    it('if the rollout began later', () => {
      const workloads = [record('web', [restartedAt(at)])];
      assert.deepEqual(overtaken({ workloads, rolloutStartedAt: at + 1 }), [true]);
      assert.deepEqual(overtaken({ workloads, rolloutStartedAt: at }), [false]);
    });
  });

  it('have a lost restart if a user removed or reverted the annotation', () => {
    const at = now - 10 * second;
    const completions = new Completions();
    completions.note(record('web', [restartedAt(at)]), now - 9 * second);
    for (const reverted of [record('web'), record('web', [restartedAt(at - hour, older)])]) {
      completions.note(reverted, now - 8 * second);
      const [web] = own({ workloads: [reverted], completions });
      assert.deepEqual(web?.restarted, { target, at, isLost: true, isOvertaken: false });
    }
  });
});

describe('staleConfigurations', () => {
  it('returns each configuration of the stale pods once', () => {
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

describe('the new pods of a restarted workload', () => {
  const minute = 60 * second;
  const at = now - 500;
  const created = Math.floor(at / second);
  const bad = { ready: false, restarts: 0, crashing: true };
  /** Returns the counts, `minutes` after the restart, of a pod created `seconds` after it. */
  const counted = (
    [seconds, health]: readonly [seconds: number, health: object | undefined],
    { minutes = 1, state = 'current', isComplete = true } = {},
  ) => {
    const does = health && { health: { ready: false, restarts: 0, crashing: false, ...health } };
    const records = [{ createdAt: created + seconds, ...does }];
    const web = record('web', [restartedAt(at)], isComplete ? {} : { status: { updatedReplicas: 1 } });
    const groups = [pods('web', { state, records })];
    const [found] = own({ workloads: [web], groups, now: at + minutes * minute });
    return [found?.crashing, found?.uninjected];
  };

  it('count as crashing if a container crashes or has restarted often', () => {
    assert.deepEqual(counted([1, bad]), [1, 0]);
    assert.deepEqual(counted([1, {}]), [0, 0]);
    assert.deepEqual(counted([1, undefined]), [0, 0]);
    assert.deepEqual(counted([1, { restarts: 3 }]), [1, 0]);
    assert.deepEqual(counted([1, { restarts: 2 }]), [0, 0]);
    assert.deepEqual(counted([1, bad], { state: 'stale' }), [1, 0]);
  });

  it('exclude pods that are older than the restart', () => {
    assert.deepEqual(counted([-1, bad]), [0, 0]);
    assert.deepEqual(counted([0, bad]), [1, 0]);
    assert.deepEqual(counted([0, bad], { state: 'stale' }), [0, 0]);
  });

  it('exclude pods that were created after readyTimeout, unless the restart is incomplete', () => {
    assert.deepEqual(counted([599, bad]), [1, 0]);
    assert.deepEqual(counted([601, bad]), [0, 0]);
    assert.deepEqual(counted([601, bad], { isComplete: false }), [1, 0], 'still restarting');
  });

  it('include late pods of a slow restart', () => {
    const web = record('web', [restartedAt(at)]);
    const completions = new Completions();
    completions.note(record('web', [restartedAt(at)], { status: { updatedReplicas: 1 } }), at + minute);
    completions.note(web, at + 40 * minute);
    const late = pods('web', { state: 'current', records: [{ createdAt: created + 45 * 60, health: bad }] });
    const [found] = own({ workloads: [web], groups: [late], completions, now: at + 46 * minute });
    assert.equal(found?.crashing, 1);
  });

  it('count as crashing later only if they keep crashing', () => {
    assert.deepEqual(counted([1, bad], { minutes: 9 }), [1, 0]);
    assert.deepEqual(counted([1, bad], { minutes: 11 }), [0, 0]);
    assert.deepEqual(counted([1, { restarts: 3 }], { minutes: 11 }), [1, 0]);
    assert.deepEqual(counted([1, { restarts: 9 }], { minutes: 120 }), [1, 0]);
    assert.deepEqual(counted([1, { restarts: 7 }], { minutes: 120 }), [0, 0]);
  });

  it('count as uninjected if they have no sidecar', () => {
    assert.deepEqual(counted([1, {}], { state: 'missing' }), [0, 1]);
    assert.deepEqual(counted([1, bad], { state: 'missing' }), [1, 1]);
    assert.deepEqual(counted([-1, {}], { state: 'missing' }), [0, 0]);
  });

  it('are not counted if the workload was not restarted', () => {
    const groups = [pods('web', { records: [{ createdAt: created, health: bad }] })];
    assert.equal(own({ groups })[0]?.crashing, undefined);
  });
});
