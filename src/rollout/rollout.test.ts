import assert from 'node:assert/strict';
import type { CanaryStrategy } from '../api/rollout-strategy.ts';
import { rolloutStatusSchema, type RolloutState } from '../api/rollout-status.ts';
import type { RolloutObservation } from './observation.ts';
import { advanceRollout, type RolloutPass } from './rollout.ts';
import { at, observation, place, readyPods, start, strategyOf, unreadyPods, workloads } from './testdata/situation.ts';
import { everyWorkload, noWorkload } from './workload-key.ts';

const strategy = strategyOf([{ weight: 5 }, { weight: 50, pause: '10m' }, { weight: 100 }]);
const shadowFirst = strategyOf([{ weight: 0, shadow: true }, { weight: 5 }]);
const untilResumed = strategyOf([{ weight: 5, pause: 'UntilResumed' }, { weight: 50 }]);
const healthy = (since = 0) => ({ stable: readyPods(100), canary: readyPods(3, since) });

/** One tag through a history of passes; the state goes through the schema of the status as it would through the API server. */
class Tag {
  state: RolloutState | undefined;
  pass: RolloutPass = { state: undefined, at: undefined, events: [] };
  strategy: CanaryStrategy | undefined;

  constructor(given: CanaryStrategy | undefined = strategy) {
    this.strategy = given;
  }

  /** A pass some seconds after the start; returns `phase/reason`. */
  see(seconds: number, fields: Partial<RolloutObservation> = {}): string {
    const observed = observation(fields);
    this.pass = advanceRollout({ state: this.state, strategy: this.strategy, observed, now: at(seconds) });
    const { state } = this.pass;
    this.state = state && rolloutStatusSchema.parse(JSON.parse(JSON.stringify(state)));
    assert.deepEqual(this.state, state);
    return state === undefined ? 'none' : `${state.phase}/${state.reason}`;
  }

  /** When the next pass is due, in seconds after the start. */
  get due(): number | undefined {
    return this.pass.at && (this.pass.at.getTime() - start) / 1000;
  }

  get events(): string[] {
    return this.pass.events.map(({ type, reason }) => `${type}/${reason}`);
  }

  get now(): RolloutState {
    assert.ok(this.state);
    return this.state;
  }
}

describe('advanceRollout', () => {
  it('goes from step to step on evidence, and promotes after the last', () => {
    const tag = new Tag();
    assert.equal(tag.see(0), 'Progressing/StepStarted');
    assert.deepEqual(tag.events, ['Normal/RolloutStarted', 'Normal/StepStarted']);
    const { canary, step, weight, threshold, canaryWorkloads, knownWorkloads } = tag.now;
    assert.deepEqual([canary, step, weight, canaryWorkloads, knownWorkloads], [place('1-25'), 0, 5, 5, 100]);
    assert.equal(tag.due, 0);
    assert.equal(tag.see(1), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(20, { pods: healthy(10) }), 'Progressing/WatchingPods');
    assert.deepEqual(tag.now.pods, {
      stable: { ready: 100, failing: 0, total: 100 },
      canary: { ready: 3, failing: 0, total: 3 },
    });
    assert.equal(tag.due, 70);
    assert.equal(tag.see(69.9, { pods: healthy(10) }), 'Progressing/WatchingPods');
    assert.equal(tag.now.threshold, threshold);
    assert.equal(tag.see(70, { pods: healthy(10) }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.step, tag.now.weight, tag.now.canaryWorkloads], [1, 50, 50]);
    assert.equal(
      tag.see(70, { pods: healthy(10) }),
      'Progressing/WatchingPods',
      'the evidence of a step counts for that step',
    );
    assert.equal(tag.due, 130);
    assert.equal(tag.see(130, { pods: healthy(10) }), 'Paused/Pause');
    assert.deepEqual(tag.events, ['Normal/RolloutPaused']);
    assert.equal(tag.due, 730);
    assert.equal(tag.see(200, { pods: healthy(10) }), 'Paused/Pause');
    assert.deepEqual(tag.events, [], 'told once');
    assert.equal(tag.see(730, { pods: healthy(10) }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.weight, tag.now.threshold, tag.now.canaryWorkloads], [100, everyWorkload, 100]);
    assert.equal(tag.see(790, { pods: healthy(10) }), 'Promoted/Promoted');
    assert.deepEqual(tag.events, ['Normal/Promoted']);
    assert.deepEqual(
      [tag.now.stable, tag.now.canary, tag.now.step, tag.now.weight],
      [place('1-25'), undefined, undefined, 100],
    );
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(800, { stable: place('1-25') }), 'Promoted/Promoted');
  });

  it('takes one step a pass, whatever there is to see', () => {
    const quick = strategyOf([{ weight: 5 }, { weight: 50 }, { weight: 100 }], { minReadySeconds: 0 });
    const tag = new Tag(quick);
    const weights = [0, 1, 2, 3].map((seconds) => {
      tag.see(seconds, { pods: healthy() });
      return tag.now.weight;
    });
    assert.deepEqual(weights, [5, 50, 100, 100]);
    assert.equal(tag.now.phase, 'Promoted');
  });

  it('gives the same for the same, so that a pass that was cut off can be repeated', () => {
    const tag = new Tag();
    tag.see(0);
    const situation = { state: tag.now, strategy, observed: observation({ pods: healthy() }), now: at(60) };
    assert.deepEqual(advanceRollout(situation), advanceRollout(structuredClone(situation)));
    assert.deepEqual(situation.state, tag.state, 'what was given is left as it was');
  });

  describe('without a state', () => {
    it('leads where the status says', () => {
      const tag = new Tag();
      tag.see(0, { revision: '1-24', wanted: place('1-24') });
      assert.deepEqual([tag.now.phase, tag.now.reason, tag.now.stable], ['Idle', 'Stable', place('1-24')]);
    });

    it('that was lost leads to spec.revision', () => {
      const lost = observation();
      delete (lost as { before?: unknown }).before;
      const { state, events } = advanceRollout({ state: undefined, strategy, observed: lost, now: at(0) });
      assert.deepEqual([state?.phase, state?.stable, state?.canary, events], ['Idle', place('1-25'), undefined, []]);
    });

    it('is not known while spec.revision cannot be led to', () => {
      const unknown = observation();
      delete (unknown as { before?: unknown }).before;
      delete (unknown as { wanted?: unknown }).wanted;
      const pass = advanceRollout({ state: undefined, strategy, observed: unknown, now: at(0) });
      assert.deepEqual(pass, { state: undefined, at: undefined, events: [] });
    });

    it('of which a part was lost is at rest', () => {
      const tag = new Tag();
      tag.see(0);
      delete tag.now.stepStartedAt;
      assert.equal(tag.see(1), 'Progressing/StepStarted');
      assert.deepEqual(tag.events, ['Normal/RolloutStarted', 'Normal/StepStarted'], 'it begins anew');
    });
  });

  describe('with few workloads', () => {
    for (const count of [1, 2, 7]) {
      it(`(${count}) goes through with the pods that there are`, () => {
        const tag = new Tag(strategyOf([{ weight: 5 }, { weight: 100 }]));
        const fields = { workloads: workloads(count), pods: { stable: [], canary: readyPods(1) } };
        tag.see(0, fields);
        assert.equal(tag.now.canaryWorkloads, 1);
        assert.equal(tag.see(60, fields), 'Progressing/StepStarted', 'one pod is all that the share has');
        assert.equal(tag.now.canaryWorkloads, count);
        const all = { ...fields, pods: { stable: [], canary: readyPods(Math.min(count, 3)) } };
        assert.equal(tag.see(120, all), 'Promoted/Promoted');
      });
    }

    it('waits for all the pods of the share before it is content with fewer', () => {
      const tag = new Tag();
      const fields = { workloads: workloads(2, 2) };
      tag.see(0, fields);
      assert.equal(
        tag.see(100, { ...fields, pods: { stable: readyPods(3), canary: readyPods(1) } }),
        'WaitingForPods/NotEnoughPods',
      );
      assert.match(tag.now.message, /1 of 2 pods of the canary are ready/);
    });

    it('never advances without any', () => {
      const tag = new Tag(strategyOf([{ weight: 5 }, { weight: 100 }], { minimumPods: 1, minReadySeconds: 0 }));
      const nobody = { workloads: [], pods: { stable: [], canary: [] } };
      tag.see(0, nobody);
      for (const seconds of [1, 1e6, 1e9]) assert.equal(tag.see(seconds, nobody), 'WaitingForPods/NotEnoughPods');
    });

    it('asks for all of minimumPods when the share has none, and some are on their way out', () => {
      const tag = new Tag();
      const fields = { workloads: [], pods: { stable: [], canary: readyPods(2) } };
      tag.see(0, fields);
      assert.equal(tag.see(100, fields), 'WaitingForPods/NotEnoughPods');
      assert.match(tag.now.message, /2 of 3 pods/);
    });

    it('measures the share again when all of it is gone', () => {
      const tag = new Tag();
      tag.see(0, { workloads: workloads(10) });
      const { threshold } = tag.now;
      const late = [
        { rank: 'e000000000000000', pods: 1 },
        { rank: 'f000000000000000', pods: 1 },
      ];
      tag.see(1, { workloads: late });
      assert.equal(tag.now.canaryWorkloads, 1);
      assert.ok(tag.now.threshold > threshold);
      const raised = tag.now.threshold;
      tag.see(2, { workloads: [] });
      assert.equal(tag.now.threshold, raised);
      tag.see(3, { workloads: workloads(10) });
      assert.equal(tag.now.threshold, raised, 'it never shrinks');
      assert.equal(tag.now.canaryWorkloads, 9);
    });
  });

  describe('pauses', () => {
    it('until somebody resumes', () => {
      const tag = new Tag(untilResumed);
      tag.see(0);
      tag.see(60, { pods: healthy() });
      for (const seconds of [100, 1e8]) assert.equal(tag.see(seconds, { pods: healthy() }), 'Paused/UntilResumed');
      assert.equal(tag.due, undefined);
      assert.equal(tag.see(1e8, { pods: healthy(), action: 'resume:1' }), 'Progressing/StepStarted');
      assert.deepEqual(tag.events, ['Normal/RolloutResumed', 'Normal/StepStarted']);
      assert.deepEqual([tag.now.step, tag.now.action?.state, tag.now.resumed], [1, 'Done', undefined]);
    });

    it('on from where it was when the evidence is lost and comes back', () => {
      const tag = new Tag(strategyOf([{ weight: 5, pause: '10m' }]));
      tag.see(0);
      tag.see(60, { pods: healthy() });
      assert.equal(tag.see(100), 'WaitingForPods/NotEnoughPods');
      assert.equal(tag.see(400, { pods: healthy(390) }), 'Progressing/WatchingPods');
      assert.equal(tag.see(450, { pods: healthy(390) }), 'Paused/Pause');
      assert.equal(tag.due, 660);
    });

    it('in each step anew', () => {
      const tag = new Tag(
        strategyOf([
          { weight: 5, pause: '10m' },
          { weight: 50, pause: '10m' },
        ]),
      );
      tag.see(0);
      tag.see(60, { pods: healthy() });
      tag.see(660, { pods: healthy() });
      assert.deepEqual([tag.now.step, tag.now.pausedAt], [1, undefined]);
      assert.equal(tag.see(720, { pods: healthy() }), 'Paused/Pause');
      assert.equal(tag.due, 1320);
    });

    it('not at all for no time', () => {
      const tag = new Tag(strategyOf([{ weight: 5, pause: '0s' }]));
      tag.see(0);
      assert.equal(tag.see(60, { pods: healthy() }), 'Promoted/Promoted');
    });

    it('and keeps watching, waking when a pod may fail', () => {
      const tag = new Tag(untilResumed);
      tag.see(0);
      const pods = { stable: readyPods(100), canary: [...readyPods(3), ...unreadyPods(1, 100)] };
      assert.equal(tag.see(110, { pods }), 'Paused/UntilResumed');
      assert.equal(tag.due, 400);
      assert.equal(tag.see(400, { pods }), 'RolledBack/PodsFailing');
    });

    it('no longer than resume says, of which the evidence must still be there', () => {
      const tag = new Tag(untilResumed);
      tag.see(0);
      tag.see(60, { pods: healthy() });
      assert.equal(tag.see(70, { action: 'resume:1' }), 'WaitingForPods/NotEnoughPods');
      assert.equal(tag.see(71), 'WaitingForPods/NotEnoughPods');
      assert.equal(tag.see(300, { pods: healthy(200) }), 'Progressing/StepStarted');
    });
  });

  describe('rolls back', () => {
    it('when pods of the canary are not ready in time', () => {
      const tag = new Tag();
      tag.see(0);
      const pods = { stable: readyPods(100), canary: unreadyPods(3, 10) };
      assert.equal(tag.see(20, { pods }), 'WaitingForPods/NotEnoughPods');
      assert.equal(tag.due, 310);
      assert.equal(tag.see(310, { pods }), 'RolledBack/PodsFailing');
      assert.deepEqual(tag.events, ['Warning/RolledBack']);
      const { weight, threshold, canary, rolledBackFrom, stable, canaryWorkloads, step } = tag.now;
      assert.deepEqual([weight, threshold, canary, step, canaryWorkloads], [0, noWorkload, undefined, undefined, 0]);
      assert.deepEqual([rolledBackFrom, stable], [place('1-25'), place('1-24')]);
      assert.equal(
        tag.now.message,
        'revision 1-25 was rolled back to 1-24 at step 1 (5 percent): 3 of 3 pods of the canary are failing, and 0 of 100 of the stable revision: more than 10 percent worse (spec.strategy.canary.analysis.maximumFailingPercent)',
      );
      assert.equal(tag.due, undefined);
    });

    it('at once when they crash, in a pause too', () => {
      const tag = new Tag(untilResumed);
      tag.see(0);
      tag.see(60, { pods: healthy() });
      const crashing = readyPods(3).map((pod) => ({ ...pod, crashing: true }));
      assert.equal(tag.see(61, { pods: { stable: readyPods(100), canary: crashing } }), 'RolledBack/PodsFailing');
    });

    it('not when stable pods fail alike', () => {
      const tag = new Tag();
      tag.see(0);
      assert.equal(
        tag.see(400, { pods: { stable: unreadyPods(100), canary: unreadyPods(3) } }),
        'WaitingForPods/NotEnoughPods',
      );
    });

    it('on injection errors beyond the bound', () => {
      const tag = new Tag(strategyOf([{ weight: 5 }], { maximumInjectionErrors: 2 }));
      tag.see(0);
      assert.equal(tag.see(1, { injectionErrors: 2 }), 'WaitingForPods/NotEnoughPods');
      assert.equal(tag.see(2, { injectionErrors: 3 }), 'RolledBack/InjectionErrors');
      assert.match(tag.now.message, /3 injections of the canary failed, more than 2 /);
    });

    it('when the canary is served no longer', () => {
      const tag = new Tag();
      tag.see(0);
      assert.equal(tag.see(1, { gone: 'InjectorConfig config-1-25 is paused' }), 'RolledBack/CanaryUnavailable');
      assert.match(tag.now.message, /is paused$/);
    });

    it('and stays there until the spec changes', () => {
      const tag = new Tag();
      tag.see(0);
      tag.see(1, { injectionErrors: 1 });
      for (const fields of [{}, { injectionErrors: 9 }, { wanted: place('1-25', '00000002') }, { pods: healthy() }]) {
        assert.equal(tag.see(1e6, fields), 'RolledBack/InjectionErrors');
        assert.deepEqual([tag.now.threshold, tag.now.canary, tag.events], [noWorkload, undefined, []]);
      }
      assert.equal(tag.see(2e6, { generation: 3 }), 'Progressing/StepStarted');
      assert.deepEqual([tag.now.injectionErrors, tag.now.rolledBackFrom], [0, undefined]);
    });

    it('and forgets it when another one is promoted', () => {
      const tag = new Tag();
      tag.see(0);
      tag.see(1, { injectionErrors: 1 });
      const other = { revision: '1-26', generation: 3, wanted: place('1-26') };
      tag.see(2, other);
      assert.deepEqual(tag.now.rolledBackFrom, place('1-25'));
      tag.see(3, { ...other, action: 'promote:1' });
      assert.deepEqual([tag.now.phase, tag.now.rolledBackFrom], ['Promoted', undefined]);
    });

    it('and is at rest once the spec agrees', () => {
      const tag = new Tag();
      tag.see(0);
      tag.see(1, { injectionErrors: 1 });
      assert.equal(tag.see(2, { revision: '1-24', generation: 3, wanted: place('1-24') }), 'Idle/Stable');
      assert.deepEqual(tag.now.rolledBackFrom, place('1-25'));
    });

    it('a rollback', () => {
      const tag = new Tag();
      tag.see(0);
      tag.see(1, { action: 'promote:1' });
      assert.equal(tag.now.phase, 'Promoted');
      const back = { revision: '1-24', generation: 3, wanted: place('1-24'), stable: place('1-25') };
      assert.equal(tag.see(2, back), 'Progressing/StepStarted');
      assert.deepEqual([tag.now.stable, tag.now.canary], [place('1-25'), place('1-24')]);
      assert.equal(tag.see(3, { ...back, injectionErrors: 1 }), 'RolledBack/InjectionErrors');
      assert.deepEqual([tag.now.stable, tag.now.rolledBackFrom], [place('1-25'), place('1-24')]);
    });
  });

  describe('in a shadow step', () => {
    const report = (compared: number, failed = 0) => ({
      compared,
      failed,
      differing: 1,
      changed: ['spec.containers[a].image'],
    });

    it('gives nobody the canary, and goes on once enough pods were compared', () => {
      const tag = new Tag(shadowFirst);
      assert.equal(tag.see(0), 'Shadowing/StepStarted');
      assert.deepEqual(
        [tag.now.shadow, tag.now.weight, tag.now.threshold, tag.now.canary],
        [true, 0, noWorkload, place('1-25')],
      );
      assert.equal(tag.see(1), 'Shadowing/ComparingPods');
      assert.equal(tag.see(2, { shadow: report(2) }), 'Shadowing/ComparingPods');
      assert.match(tag.now.message, /compared for 2 of 3 pods/);
      assert.equal(tag.due, undefined);
      assert.equal(tag.see(3, { shadow: report(3) }), 'Progressing/StepStarted');
      assert.deepEqual([tag.now.shadow, tag.now.weight, tag.now.shadowBefore], [false, 5, undefined]);
      assert.deepEqual(tag.now.shadowReport, report(3), 'what was found stays to be read');
    });

    it('is rolled back by the first failure, with its error', () => {
      const tag = new Tag(shadowFirst);
      tag.see(0);
      assert.equal(
        tag.see(1, { shadow: { ...report(2, 1), error: 'line 3: no such field' } }),
        'RolledBack/ShadowFailed',
      );
      assert.match(
        tag.now.message,
        /it failed for 1 of 2 pods that the stable revision accepts: line 3: no such field$/,
      );
      assert.equal(tag.now.shadowReport?.error, 'line 3: no such field');
    });

    it('says so without an error, too', () => {
      const tag = new Tag(shadowFirst);
      tag.see(0);
      tag.see(1, { shadow: report(2, 2) });
      assert.match(tag.now.message, /for 2 of 2 pods that the stable revision accepts$/);
    });

    it('does not count what was compared before it', () => {
      const tag = new Tag(shadowFirst);
      tag.see(0, { shadow: report(10, 4) });
      assert.equal(tag.see(1, { shadow: report(12, 4) }), 'Shadowing/ComparingPods');
      assert.deepEqual([tag.now.shadowReport?.compared, tag.now.shadowReport?.failed], [2, 0]);
      assert.equal(tag.see(2, { shadow: report(13, 4) }), 'Progressing/StepStarted');
    });

    it('counts anew when a replica that had counted is gone', () => {
      const tag = new Tag(shadowFirst);
      tag.see(0, { shadow: report(10, 4) });
      assert.equal(tag.see(1, { shadow: report(1) }), 'Shadowing/ComparingPods');
      assert.equal(tag.see(2, { shadow: report(11, 1) }), 'RolledBack/ShadowFailed');
    });

    it('sees a failure even when its replica has compared no less than before', () => {
      const tag = new Tag(shadowFirst);
      tag.see(0, { shadow: report(10, 4) });
      assert.equal(tag.see(1, { shadow: report(12, 3) }), 'RolledBack/ShadowFailed');
    });

    it('whose record of before was lost counts everything', () => {
      const tag = new Tag(shadowFirst);
      tag.see(0, { shadow: report(10) });
      delete tag.now.shadowBefore;
      tag.see(1, { shadow: report(10) });
      assert.equal(tag.now.shadowReport?.compared, 10);
    });

    it('pauses like any other', () => {
      const tag = new Tag(strategyOf([{ weight: 0, shadow: true, pause: '1m' }]));
      tag.see(0);
      assert.equal(tag.see(5, { shadow: report(3) }), 'Paused/Pause');
      assert.equal(tag.due, 65);
      assert.equal(tag.see(65, { shadow: report(3) }), 'Promoted/Promoted');
    });
  });

  describe('when the spec is edited in mid-rollout', () => {
    const inProgress = (): Tag => {
      const tag = new Tag();
      tag.see(0);
      tag.see(60, { pods: healthy() });
      assert.equal(tag.now.weight, 50);
      return tag;
    };

    it('begins anew from stable towards another revision', () => {
      const tag = inProgress();
      assert.equal(tag.see(61, { revision: '1-26', generation: 3, wanted: place('1-26') }), 'Progressing/StepStarted');
      const { stable, canary, weight, canaryWorkloads } = tag.now;
      assert.deepEqual([stable, canary, weight, canaryWorkloads], [place('1-24'), place('1-26'), 5, 5]);
    });

    it('goes back to stable while the other revision cannot be led to', () => {
      const tag = inProgress();
      const observed = observation({ revision: '1-26', generation: 3 });
      delete (observed as { wanted?: unknown }).wanted;
      const pass = advanceRollout({ state: tag.now, strategy, observed, now: at(61) });
      assert.deepEqual(
        [pass.state?.phase, pass.state?.reason, pass.state?.canary],
        ['Idle', 'RevisionNotReady', undefined],
      );
      assert.deepEqual(
        pass.events.map(({ reason }) => reason),
        ['RolloutAborted'],
      );
      const again = advanceRollout({ state: pass.state, strategy, observed, now: at(62) });
      assert.deepEqual([again.state, again.events, again.at], [pass.state, [], undefined]);
    });

    it('ends when it names stable again', () => {
      const tag = inProgress();
      assert.equal(tag.see(61, { revision: '1-24', generation: 3, wanted: place('1-24') }), 'Idle/Stable');
      assert.deepEqual(
        [tag.now.threshold, tag.now.canary, tag.events],
        [noWorkload, undefined, ['Normal/RolloutAborted']],
      );
      assert.equal(tag.see(62, { revision: '1-24', generation: 3, wanted: place('1-24') }), 'Idle/Stable');
      assert.deepEqual(tag.events, []);
    });

    it('begins anew with another configuration of the canary', () => {
      const tag = inProgress();
      assert.equal(tag.see(61, { wanted: place('1-25', '00000002') }), 'Progressing/StepStarted');
      assert.deepEqual([tag.now.weight, tag.now.canary?.hash], [5, '00000002']);
    });

    it('follows another configuration of the stable revision, and goes on', () => {
      const tag = inProgress();
      const { threshold } = tag.now;
      assert.equal(tag.see(61, { stable: place('1-24', '0000000a'), pods: healthy() }), 'Progressing/WatchingPods');
      assert.deepEqual([tag.now.stable.hash, tag.now.threshold], ['0000000a', threshold]);
    });

    it('moves at once without a strategy', () => {
      const tag = inProgress();
      tag.strategy = undefined;
      assert.equal(tag.see(61, { generation: 3 }), 'Idle/Stable');
      assert.deepEqual([tag.now.stable, tag.now.canary, tag.due], [place('1-25'), undefined, undefined]);
    });

    it('waits without a strategy while the revision cannot be led to', () => {
      const tag = inProgress();
      const observed = observation({ generation: 3 });
      delete (observed as { wanted?: unknown }).wanted;
      const pass = advanceRollout({ state: tag.now, strategy: undefined, observed, now: at(61) });
      assert.deepEqual(pass, { state: tag.now, at: undefined, events: [] });
    });

    for (const [title, steps, expected] of [
      ['fewer steps below the weight', [{ weight: 1 }, { weight: 2 }], [1, 50]],
      ['one step below the weight', [{ weight: 1 }], [0, 50]],
      ['a larger weight at the step', [{ weight: 5 }, { weight: 60 }], [1, 60]],
      ['a smaller weight at the step', [{ weight: 5 }, { weight: 20 }, { weight: 70 }], [2, 70]],
      ['a step before it', [{ weight: 5 }, { weight: 20 }, { weight: 50 }], [2, 50]],
      ['only shadow steps', [{ weight: 0, shadow: true }], [0, 50]],
    ] as const) {
      it(`keeps the weight with ${title}, and comes to an end`, () => {
        const tag = inProgress();
        const { threshold } = tag.now;
        tag.strategy = strategyOf(steps);
        tag.see(61, { generation: 3, pods: healthy() });
        assert.deepEqual([tag.now.step, tag.now.weight, tag.now.shadow], [...expected, false]);
        assert.ok(tag.now.threshold >= threshold);
        for (let seconds = 62; seconds < 1000 && tag.now.phase !== 'Promoted'; seconds += 30) {
          tag.see(seconds, { generation: 3, pods: healthy() });
        }
        assert.equal(tag.now.phase, 'Promoted');
      });
    }

    it('begins again where a shadow step became one with a weight', () => {
      const tag = new Tag(shadowFirst);
      tag.see(0);
      tag.strategy = strategy;
      tag.see(1);
      assert.deepEqual([tag.now.step, tag.now.weight, tag.now.shadow], [0, 5, false]);
    });
  });

  describe('while the revision cannot be led to', () => {
    const without = (fields: Partial<RolloutObservation> = {}): RolloutObservation => {
      const observed = observation(fields);
      delete (observed as { wanted?: unknown }).wanted;
      return observed;
    };

    it('does not begin, says why once, and refuses what is asked', () => {
      const first = advanceRollout({ state: undefined, strategy, observed: without(), now: at(0) });
      assert.deepEqual(
        [first.state?.phase, first.state?.reason, first.events, first.at],
        ['Idle', 'RevisionNotReady', [], undefined],
      );
      assert.match(first.state?.message ?? '', /revision 1-25 cannot be led to yet .*; pods get 1-24$/);
      const asked = advanceRollout({
        state: first.state,
        strategy,
        observed: without({ action: 'promote:1' }),
        now: at(1),
      });
      assert.equal(asked.state?.action?.message, 'promote: no rollout is under way');
    });

    it('holds a rollout under way, and rolls it back all the same', () => {
      const tag = new Tag();
      tag.see(0);
      const hold = advanceRollout({ state: tag.now, strategy, observed: without({ pods: healthy() }), now: at(60) });
      assert.deepEqual(
        [hold.state?.phase, hold.state?.reason, hold.state?.step],
        ['Progressing', 'RevisionNotReady', 0],
      );
      const worse = advanceRollout({
        state: hold.state,
        strategy,
        observed: without({ injectionErrors: 1 }),
        now: at(61),
      });
      assert.equal(worse.state?.phase, 'RolledBack');
    });
  });

  describe('does what is asked', () => {
    it('promote: at once', () => {
      const tag = new Tag();
      tag.see(0);
      assert.equal(tag.see(1, { action: 'promote:a' }), 'Promoted/Promoted');
      assert.match(tag.now.message, /revision 1-25 is stable now, in place of 1-24: a person asked for it/);
      assert.deepEqual(tag.now.action, { verb: 'promote', nonce: 'a', state: 'Done', message: tag.now.message });
      assert.equal(tag.due, undefined);
    });

    it('abort: back to stable, and retry: once more', () => {
      const tag = new Tag();
      tag.see(0);
      assert.equal(tag.see(1, { action: 'abort:a' }), 'RolledBack/Aborted');
      assert.deepEqual([tag.now.canary, tag.now.threshold], [undefined, noWorkload]);
      assert.equal(tag.see(2, { action: 'abort:a' }), 'RolledBack/Aborted');
      assert.deepEqual(tag.events, [], 'once');
      assert.equal(tag.see(3, { action: 'retry:b' }), 'Progressing/StepStarted');
      assert.equal(tag.due, 3);
      assert.equal(tag.see(4, { action: 'retry:b' }), 'WaitingForPods/NotEnoughPods');
      assert.equal(tag.see(5, { action: 'abort:b' }), 'RolledBack/Aborted', 'the verb counts as well as the nonce');
    });

    it('together with the edit that it belongs to', () => {
      const tag = new Tag();
      tag.see(0, { revision: '1-24', wanted: place('1-24') });
      assert.equal(tag.see(1, { action: 'promote:a' }), 'Progressing/StepStarted');
      assert.equal(tag.see(1, { action: 'promote:a' }), 'Promoted/Promoted');
    });

    const nothing = observation({ action: 'retry:a' });
    delete (nothing as { wanted?: unknown }).wanted;

    it('retry: not where the revision cannot be led to', () => {
      const tag = new Tag();
      tag.see(0);
      tag.see(1, { action: 'abort:a' });
      const { state } = advanceRollout({ state: tag.now, strategy, observed: nothing, now: at(2) });
      assert.deepEqual([state?.phase, state?.action?.state], ['RolledBack', 'Refused']);
      assert.match(state?.action?.message ?? '', /^retry: revision 1-25 cannot be led to now/);
      const none = advanceRollout({ state: tag.now, strategy: undefined, observed: nothing, now: at(2) });
      assert.equal(none.state?.action?.state, 'Refused');
    });

    for (const [title, action, phase, message] of [
      ['abort at rest', 'abort:a', 'Idle', /^abort: no rollout is under way$/],
      ['resume at rest', 'resume:a', 'Idle', /^resume: no rollout is under way$/],
      [
        'retry at rest',
        'retry:a',
        'Idle',
        /^retry: nothing was rolled back; a rollout begins when spec\.revision changes$/,
      ],
      ['what is no request', 'undo', 'Idle', /is no request; write one of promote, abort/],
      ['what is far too long', 'x'.repeat(5000), 'Idle', /is no request/],
      [
        'resume without a pause',
        'resume:a',
        'WaitingForPods',
        /^resume: step 1 is not paused: step 1 \(5 percent\) waits for pods/,
      ],
      [
        'promote after a rollback',
        'promote:b',
        'RolledBack',
        /^promote: no rollout is under way; it was rolled back, ask for retry$/,
      ],
    ] as const) {
      it(`refuses ${title}, once, and changes nothing`, () => {
        const tag = new Tag();
        const rest = { revision: '1-24', wanted: place('1-24') };
        const fields = phase === 'Idle' ? rest : {};
        tag.see(0, fields);
        if (phase === 'WaitingForPods') tag.see(1);
        if (phase === 'RolledBack') tag.see(1, { action: 'abort:a' });
        assert.equal(tag.now.phase, phase);
        const before = tag.now;
        tag.see(2, { ...fields, action });
        assert.equal(tag.now.action?.state, 'Refused');
        assert.match(tag.now.action.message, message);
        assert.ok(tag.now.action.nonce.length <= 63);
        assert.deepEqual(tag.events, ['Warning/ActionRefused']);
        assert.deepEqual({ ...tag.now, action: before.action }, { ...before, action: before.action });
        tag.see(3, { ...fields, action });
        assert.deepEqual(tag.events, []);
      });
    }
  });

  it('throws on steps that the schema would not have let through', () => {
    const none: CanaryStrategy = { ...strategy, steps: [] };
    assert.throws(
      () => advanceRollout({ state: undefined, strategy: none, observed: observation(), now: at(0) }),
      RangeError,
    );
  });
});
