import assert from 'node:assert/strict';
import { rankAt, readyPods, strategyOf, unreadyPods, workloads } from './testdata/situation.ts';
import { healthy, TagHistory } from './testdata/tag-history.ts';

const untilResumed = strategyOf([{ weight: 5, pause: 'UntilResumed' }, { weight: 50 }]);

describe('A rollout pauses', () => {
  it('until a user resumes it', () => {
    const tag = TagHistory.begun(untilResumed);
    tag.see(60, { pods: healthy() });
    for (const seconds of [100, 1e8]) assert.equal(tag.see(seconds, { pods: healthy() }), 'Paused/UntilResumed');
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(1e8, { pods: healthy(), action: 'resume:1' }), 'Progressing/StepStarted');
    assert.deepEqual(tag.events, ['Normal/RolloutResumed', 'Normal/StepStarted']);
    assert.deepEqual([tag.now.step, tag.now.action?.state, tag.now.resumed], [1, 'Done', undefined]);
  });

  it('for no extra time when the evidence is lost for a while', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 5, pause: '10m' }]));
    tag.see(60, { pods: healthy() });
    assert.equal(tag.see(100), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(400, { pods: healthy(390) }), 'Progressing/WatchingPods');
    assert.equal(tag.see(450, { pods: healthy(390) }), 'Paused/Pause');
    assert.equal(tag.due, 660);
  });

  it('separately in each step', () => {
    const steps = [5, 50].map((weight) => ({ weight, pause: '10m' }));
    const tag = TagHistory.begun(strategyOf(steps));
    tag.see(60, { pods: healthy() });
    tag.see(660, { pods: healthy() });
    assert.deepEqual([tag.now.step, tag.now.pausedAt], [1, undefined]);
    assert.equal(tag.see(720, { pods: healthy() }), 'Paused/Pause');
    assert.equal(tag.due, 1320);
  });

  it('not at all with a pause of 0s', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 5, pause: '0s' }]));
    assert.equal(tag.see(60, { pods: healthy() }), 'Promoted/Promoted');
  });

  it('and runs the next pass when a pod would become late', () => {
    const tag = TagHistory.begun(untilResumed);
    const pods = { stable: readyPods(100), canary: [...readyPods(3), ...unreadyPods(1, 100)] };
    assert.equal(tag.see(110, { pods }), 'Paused/UntilResumed');
    assert.equal(tag.due, 400);
    assert.equal(tag.see(400, { pods }), 'RolledBack/PodsFailing');
  });

  it('and continues after resume once the evidence is complete again', () => {
    const tag = TagHistory.begun(untilResumed);
    tag.see(60, { pods: healthy() });
    assert.equal(tag.see(70, { action: 'resume:1' }), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(71), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.see(300, { pods: healthy(200) }), 'Progressing/StepStarted');
  });
});

describe('minimumPods of a step', () => {
  /** Begins step 2 of `[5 %, 10 %]` at 60 s: workloads 5 to 9 of 100 are new. */
  const begun = (fields: object = { minimumPods: 3 }, weight = 10): TagHistory => {
    const tag = TagHistory.begun(strategyOf([{ weight: 5 }, { weight, ...fields }]));
    assert.equal(tag.see(60, { pods: healthy() }), 'Progressing/StepStarted');
    return tag;
  };
  const pod = (index: number, since: number) => ({
    ...readyPods(1, since)[0]!,
    rank: rankAt(index),
    name: `n/${index}`,
  });
  const canaryOf = (...pods: ReturnType<typeof pod>[]) => ({
    pods: { stable: readyPods(100), canary: [...healthy().canary, ...pods] },
  });

  it('waits for pods of the workloads that are new in the step, and says so', () => {
    const tag = begun();
    assert.equal(tag.see(120, canaryOf()), 'WaitingForPods/NotEnoughPods');
    assert.equal(
      tag.now.message,
      'step 2 (10 percent) waits for pods: 0 of 3 pods of the workloads that are new in this step (spec.strategy.canary.steps[1].minimumPods) are ready; a workload gets the canary when its pods are recreated',
    );
    const old = [pod(0, 61), pod(1, 61), pod(10, 61)];
    assert.equal(tag.see(200, canaryOf(...old)), 'WaitingForPods/NotEnoughPods', 'old, and outside the share');
    const failing = { ...pod(7, 70), crashing: true };
    const some = canaryOf(pod(5, 70), pod(6, 70), failing, ...Array.from({ length: 20 }, () => pod(0, 70)));
    assert.equal(tag.see(200, some), 'WaitingForPods/NotEnoughPods');
    assert.match(tag.now.message, /: 2 of 3 pods/);
    const enough = canaryOf(pod(5, 70), pod(6, 70), pod(7, 150));
    assert.equal(tag.see(209, enough), 'Progressing/WatchingPods');
    assert.match(tag.now.message, /: 3 pods of the workloads that are new .*, and must stay ready for 60 s$/);
    assert.equal(tag.due, 210);
    assert.equal(tag.see(210, enough), 'Promoted/Promoted');
  });

  const ends: [what: string, tag: () => TagHistory, fields: Parameters<TagHistory['see']>[1]][] = [
    ['is not set', () => begun({}), canaryOf()],
    [
      'exceeds the pods of these workloads',
      () => begun({ minimumPods: 9 }),
      canaryOf(...[5, 6, 7, 8, 9].map((n) => pod(n, 60))),
    ],
    ['is set, and no workload is new', () => begun({ minimumPods: 3 }, 6), { ...canaryOf(), workloads: workloads(10) }],
    [
      'is set, and these workloads have older canary pods',
      () => begun(),
      canaryOf(...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => pod(n, 59))),
    ],
  ];
  for (const [what, tag, fields] of ends) {
    it(`does not stop a step if it ${what}`, () => {
      assert.equal(tag().see(121, fields), 'Promoted/Promoted');
    });
  }

  it('waits for the new workload although another workload has been deleted', () => {
    const tag = new TagHistory(strategyOf([{ weight: 25 }, { weight: 50, minimumPods: 1 }]));
    const first = Array.from({ length: 9 }, () => pod(0, 1));
    const see = (seconds: number, from: number): string =>
      tag.see(seconds, {
        workloads: workloads(4).slice(from),
        pods: { stable: readyPods(9), canary: first.slice(from) },
      });
    see(0, 0);
    assert.equal(see(90, 0), 'Progressing/StepStarted');
    assert.equal(see(200, 1), 'WaitingForPods/NotEnoughPods');
    assert.match(tag.now.message, /0 of 1 pods of the workloads that are new/);
  });

  it('waits while a new leader may not see all new workloads', () => {
    const seen = { ...canaryOf(pod(5, 60)), workloads: workloads(100).slice(0, 6), incompleteUntil: 1e15 };
    assert.equal(begun().see(200, seen), 'WaitingForPods/NotEnoughPods');
  });

  it('replaces the number of comparisons in a shadow step', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 0, shadow: true, minimumPods: 1 }]));
    const shadow = (compared: number) => ({ shadow: { compared, failed: 0, differing: 0, changed: [] } });
    assert.equal(tag.see(1, shadow(0)), 'Shadowing/ComparingPods');
    assert.match(tag.now.message, /compared 0 of 1 pods/);
    assert.equal(tag.see(2, shadow(1)), 'Promoted/Promoted');
  });
});
