import assert from 'node:assert/strict';
import type { RolloutState } from '../api/revision-tag/revision-tag.ts';
import { holdOf } from './hold.ts';
import type { RolloutObservation } from './observation.ts';
import { advanceRollout, type RolloutPass } from './rollout.ts';
import { at, observation, ref, readyPods, start, strategyOf, unreadyPods, workloads } from './testdata/situation.ts';
import { noWorkload } from '../routing/workload-key.ts';

const quick = { minimumPods: 1, minReadySeconds: 0 };
const strategy = strategyOf([{ weight: 20 }, { weight: 50 }, { weight: 100 }], quick);
/** The workloads that a leader sees after 10 s: 4 of 100 have no pods. */
const few = workloads(100).slice(4);
const incompleteUntil = start + 70_000;

function pass(state: RolloutState | undefined, seconds: number, fields: Partial<RolloutObservation> = {}): RolloutPass {
  return advanceRollout({ state, strategy, observed: observation({ incompleteUntil, ...fields }), now: at(seconds) });
}

/** Returns the state that a leader writes if it knows all workloads. */
function initial(fields: Partial<RolloutObservation> = {}): RolloutState {
  const { state } = pass(undefined, 0, fields);
  assert.ok(state);
  return state;
}

function course({ state }: RolloutPass): string {
  return `${state?.phase}/${state?.reason} ${state?.weight} % of ${state?.knownWorkloads}: ${state?.canaryWorkloads}`;
}

describe('A rollout with a new leader', () => {
  const resting = initial({ revision: '1-24', desired: ref('1-24') });

  it('waits until it knows as many workloads as the previous leader', () => {
    const waiting = pass(resting, 11, { workloads: few });
    assert.equal(course(waiting), 'Idle/CountingWorkloads 0 % of 100: 0');
    assert.match(
      waiting.state?.message ?? '',
      /^20 percent is measured when 100 workloads are known.* at 2026-01-01T00:01:10.000Z at the latest/,
    );
    assert.deepEqual([waiting.at, waiting.events], [at(70), []]);
    const again = pass(waiting.state, 12, { workloads: few });
    assert.deepEqual(again, waiting, 'the second pass changes nothing');
    assert.equal(course(pass(again.state, 13)), 'Progressing/StepStarted 20 % of 100: 20');
  });

  it('begins with the known workloads after the time limit', () => {
    const { state } = pass(resting, 11, { workloads: few });
    assert.equal(course(pass(state, 69.9, { workloads: few })), 'Idle/CountingWorkloads 0 % of 100: 0');
    assert.equal(course(pass(state, 70, { workloads: few })), 'Progressing/StepStarted 20 % of 96: 20');
  });

  it('begins immediately when it knows at least as many workloads', () => {
    assert.equal(course(pass(resting, 11)), 'Progressing/StepStarted 20 % of 100: 20');
    assert.equal(course(pass(resting, 11, { workloads: workloads(101) })), 'Progressing/StepStarted 20 % of 101: 21');
  });

  it('takes the number of workloads from the rest of the status if there is no state', () => {
    const waiting = pass(undefined, 11, { workloads: few, workloadsBefore: 97 });
    assert.equal(course(waiting), 'Idle/CountingWorkloads 0 % of 97: 0');
    for (const before of [{ workloadsBefore: 96 }, {}]) {
      const begun = pass(undefined, 11, { workloads: few, ...before });
      assert.equal(course(begun), 'Progressing/StepStarted 20 % of 96: 20');
    }
  });

  it('stays at a completed step until the next share can be measured', () => {
    const begun = initial();
    const canary = { stable: readyPods(80), canary: readyPods(20) };
    const waiting = pass(begun, 11, { workloads: few, pods: canary });
    assert.equal(course(waiting), 'Progressing/CountingWorkloads 20 % of 100: 20');
    assert.match(waiting.state?.message ?? '', /^50 percent /);
    assert.deepEqual([waiting.state?.threshold, waiting.at], [begun.threshold, at(70)]);
    assert.equal(course(pass(waiting.state, 12, { pods: canary })), 'Progressing/StepStarted 50 % of 100: 50');
  });

  it('is rolled back even while it waits', () => {
    const begun = initial();
    const pods = { stable: readyPods(80), canary: unreadyPods(20) };
    const observed = observation({ incompleteUntil, workloads: few, pods });
    for (const first of [20, 30]) {
      const edited = strategyOf([{ weight: first }, { weight: 50 }], quick);
      const held = advanceRollout({ state: begun, strategy: edited, observed, now: at(11) });
      assert.equal(held.state?.threshold, begun.threshold);
      const late = { ...observed, incompleteUntil: start + 1_000_000 };
      const failed = advanceRollout({ state: held.state, strategy: edited, observed: late, now: at(300) });
      assert.equal(failed.state?.reason, 'PodsFailing');
    }
  });

  it('does not measure a share again while its workloads may still exist', () => {
    const begun = initial();
    const rest = workloads(100).slice(20);
    assert.equal(pass(begun, 11, { workloads: rest }).state?.threshold, begun.threshold);
    assert.notEqual(pass(begun, 70, { workloads: rest }).state?.threshold, begun.threshold, 'the workloads are gone');
  });

  it('gives no workload the new or the old canary when spec.revision changes', () => {
    const other = { revision: '1-26', desired: ref('1-26'), generation: 3 };
    const waiting = pass(initial(), 11, { ...other, workloads: few });
    assert.equal(course(waiting), 'Idle/CountingWorkloads 0 % of 100: 0');
    assert.deepEqual([waiting.state?.canary, waiting.state?.threshold], [undefined, noWorkload]);
    const [event, ...more] = waiting.events;
    assert.deepEqual([event?.reason, more], ['RolloutAborted', []]);
    assert.equal(pass(waiting.state, 13, other).state?.canary?.revision, '1-26');
  });

  it('answers a retry immediately, and begins it when the workloads are known', () => {
    const failed = pass(initial(), 1, { action: 'abort:1' }).state;
    const asked = pass(failed, 11, { action: 'retry:2', workloads: few });
    assert.equal(course(asked), 'Idle/CountingWorkloads 0 % of 100: 0');
    assert.deepEqual([asked.state?.action?.state, asked.at], ['Done', at(70)]);
    const begun = pass(asked.state, 12, { action: 'retry:2' });
    assert.equal(course(begun), 'Progressing/StepStarted 20 % of 100: 20');
  });

  it('refuses other actions while it waits', () => {
    const { state } = pass(resting, 11, { workloads: few });
    const refused = pass(state, 12, { workloads: few, action: 'promote:1' });
    assert.equal(refused.state?.action?.state, 'Refused');
    assert.deepEqual(refused.at, at(70));
  });

  const steps: [share: string, weight: number, shadow: boolean][] = [
    ['none', 0, true],
    ['all', 100, false],
  ];
  for (const [share, weight, shadow] of steps) {
    it(`does not wait when ${share} of the workloads get the canary`, () => {
      const observed = observation({ incompleteUntil, workloads: few });
      const moment = { observed, now: at(11) };
      assert.equal(holdOf({ knownWorkloads: 100, weight: 0 }, { weight, shadow }, moment), undefined);
    });
  }
});
