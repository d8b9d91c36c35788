import assert from 'node:assert/strict';
import { Completions } from './completions.ts';
import { now, own, pods, record, restartedAt, second } from './testdata/situation.ts';

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
