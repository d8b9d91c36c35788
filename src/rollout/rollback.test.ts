import assert from 'node:assert/strict';
import type { ObservedPod, ObservedRefusal } from './observation.ts';
import { at, ref, readyPods, strategyOf, unreadyPods, workloads } from './testdata/situation.ts';
import { healthy, TagHistory } from './testdata/tag-history.ts';
import { noWorkload } from '../routing/workload-key.ts';

const untilResumed = strategyOf([{ weight: 5, pause: 'UntilResumed' }, { weight: 50 }]);

describe('A rollout is rolled back', () => {
  it('when canary pods are not ready in time, and keeps startedAt', () => {
    const tag = TagHistory.begun();
    const { startedAt } = tag.now;
    assert.ok(startedAt !== undefined);
    const [first, ...others] = unreadyPods(3, 10) as [ObservedPod, ObservedPod, ObservedPod];
    const troubled = { ...first, trouble: 'container hello: ImagePullBackOff', restarts: 1 };
    const pods = { stable: readyPods(100), canary: [...others, troubled] };
    assert.equal(tag.see(20, { pods }), 'WaitingForPods/NotEnoughPods');
    assert.equal(tag.due, 310);
    assert.equal(tag.see(310, { pods }), 'RolledBack/PodsFailing');
    assert.deepEqual(tag.events, ['Warning/RolledBack']);
    const { weight, threshold, canary, rolledBackFrom, stable, canaryWorkloads, step } = tag.now;
    assert.deepEqual([weight, threshold, canary, step, canaryWorkloads], [0, noWorkload, undefined, 0, 0]);
    assert.deepEqual([rolledBackFrom, stable], [ref('1-25'), ref('1-24')]);
    assert.equal(
      tag.now.message,
      'revision 1-25 was rolled back to 1-24 at step 1 (5 percent): 3 of 3 pods of the canary are failing, and 0 of 100 of the stable revision: more than 10 percent worse (spec.strategy.canary.analysis.maximumFailingPercent): pod shop/pod-0, container hello: ImagePullBackOff, restarts: 1; pod shop/pod-1, not ready since 2026-01-01T00:00:10.000Z; and 1 more',
    );
    assert.deepEqual([tag.due, tag.now.startedAt], [undefined, startedAt]);
  });

  it('immediately when canary pods crash, even in a pause', () => {
    const tag = TagHistory.begun(untilResumed);
    tag.see(60, { pods: healthy() });
    const crashing = readyPods(3).map((pod) => ({ ...pod, crashing: true }));
    assert.equal(tag.see(61, { pods: { stable: readyPods(100), canary: crashing } }), 'RolledBack/PodsFailing');
  });

  it('only for pods of this attempt, and waits for failing pods of an earlier attempt', () => {
    const crashing = (since: number) => readyPods(2, since).map((pod) => ({ ...pod, crashing: true }));
    const left = { stable: readyPods(100), canary: crashing(0) };
    const tag = TagHistory.begun();
    assert.equal(tag.see(1, { pods: left }), 'RolledBack/PodsFailing');
    assert.equal(tag.see(2, { pods: left, action: 'retry:a' }), 'Progressing/StepStarted');
    assert.equal(tag.see(3, { pods: left }), 'WaitingForPods/EarlierPodsFailing');
    const waits = /^step 1 \(5 percent\) waits because .*: shop\/pod-0, shop\/pod-1; delete them, or restart/;
    assert.match(tag.now.message, waits);
    const within = { ...left, canary: [...left.canary, ...readyPods(18, 4)] };
    assert.equal(tag.see(64, { pods: within }), 'Progressing/StepStarted', 'within the bound');
    assert.equal(
      tag.see(65, { pods: { ...left, canary: [...left.canary, ...crashing(2)] } }),
      'RolledBack/PodsFailing',
    );
    assert.match(tag.now.message, /: 2 of 2 pods of the canary are failing.*: pod shop\/pod-0; pod shop\/pod-1$/);
  });

  it('not when stable pods fail as well', () => {
    const tag = TagHistory.begun();
    const pods = { stable: unreadyPods(100), canary: unreadyPods(3) };
    assert.equal(tag.see(400, { pods }), 'WaitingForPods/NotEnoughPods');
  });

  it('not when as many stable pods failed at its start', () => {
    const tag = new TagHistory(strategyOf([{ weight: 100 }]));
    const crashing = readyPods(2).map((pod) => ({ ...pod, crashing: true }));
    tag.see(0, { pods: { stable: [...readyPods(8), ...crashing], canary: [] } });
    assert.deepEqual(tag.now.stableBefore, { failing: 2, total: 10 });
    const all = { stable: [], canary: [...readyPods(7), ...crashing, ...crashing.slice(1)] };
    assert.equal(tag.see(1, { pods: all }), 'Progressing/WatchingPods');
    const worse = { stable: [], canary: [...readyPods(6), ...crashing, ...crashing] };
    assert.equal(tag.see(2, { pods: worse }), 'RolledBack/PodsFailing');
  });

  it('based on the last count of stable pods if none exist when it begins', () => {
    const tag = new TagHistory(strategyOf([{ weight: 100 }]));
    tag.see(0, { pods: { stable: unreadyPods(1, -400), canary: [] } });
    const other = { revision: '1-26', generation: 3, desired: ref('1-26') };
    tag.see(1, { ...other, pods: { stable: [], canary: readyPods(1) } });
    assert.deepEqual([tag.now.canary, tag.now.stableBefore], [ref('1-26'), { failing: 1, total: 1 }]);
    tag.see(2, { revision: '1-24', generation: 4, desired: ref('1-24') });
    assert.equal(tag.now.stableBefore, undefined, 'the count belongs to the rollout');
  });

  it('when injection errors exceed the bound', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 5 }], { maximumInjectionErrors: 2 }));
    assert.equal(tag.see(1, { injectionErrors: 2 }), 'WaitingForPods/NotEnoughPods');
    const shadow = { compared: 3, failed: 3, differing: 0, changed: [], error: 'TemplateFailed: no such mesh' };
    assert.equal(tag.see(2, { injectionErrors: 3, shadow }), 'RolledBack/InjectionErrors');
    assert.match(tag.now.message, /maximumInjectionErrors\): TemplateFailed: no such mesh$/);
    assert.match(tag.now.message, /3 injections of the canary failed, more than 2 /);
  });

  it('when the canary is no longer served', () => {
    const tag = TagHistory.begun();
    assert.equal(tag.see(1, { gone: 'InjectorConfig config-1-25 is paused' }), 'RolledBack/CanaryUnavailable');
    assert.match(tag.now.message, /is paused$/);
  });

  it('and stays at stable until the spec changes', () => {
    const tag = TagHistory.begun();
    tag.see(1, { injectionErrors: 1 });
    for (const fields of [{}, { injectionErrors: 9 }, { desired: ref('1-25', '00000002') }, { pods: healthy() }]) {
      assert.equal(tag.see(1e6, fields), 'RolledBack/InjectionErrors');
      assert.deepEqual([tag.now.threshold, tag.now.canary, tag.events], [noWorkload, undefined, []]);
    }
    assert.equal(tag.see(2e6, { generation: 3 }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.injectionErrors, tag.now.rolledBackFrom], [0, undefined]);
  });

  it('and forgets the rollback when another canary is promoted', () => {
    const tag = TagHistory.begun();
    tag.see(1, { injectionErrors: 1 });
    const other = { revision: '1-26', generation: 3, desired: ref('1-26') };
    tag.see(2, other);
    assert.deepEqual(tag.now.rolledBackFrom, ref('1-25'));
    tag.see(3, { ...other, action: 'promote:1' });
    assert.deepEqual([tag.now.phase, tag.now.rolledBackFrom], ['Promoted', undefined]);
  });

  it('and is Idle once the spec names stable', () => {
    const tag = TagHistory.begun();
    tag.see(1, { injectionErrors: 1 });
    assert.equal(tag.see(2, { revision: '1-24', generation: 3, desired: ref('1-24') }), 'Idle/Stable');
    assert.deepEqual(tag.now.rolledBackFrom, ref('1-25'));
  });

  it('after a rollout back to the previous revision', () => {
    const tag = TagHistory.begun();
    tag.see(1, { action: 'promote:1' });
    assert.equal(tag.now.phase, 'Promoted');
    const back = { revision: '1-24', generation: 3, desired: ref('1-24'), stable: ref('1-25') };
    assert.equal(tag.see(2, back), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.stable, tag.now.canary], [ref('1-25'), ref('1-24')]);
    assert.equal(tag.see(3, { ...back, injectionErrors: 1 }), 'RolledBack/InjectionErrors');
    assert.deepEqual([tag.now.stable, tag.now.rolledBackFrom], [ref('1-25'), ref('1-24')]);
  });
});

describe('A rollout whose canary pods are refused', () => {
  /** Returns a refusal from 1 s to 12 s after the start, of the workload with this index. */
  const refusal = (index: number, fields: Partial<ObservedRefusal> = {}): ObservedRefusal => ({
    ...{ namespace: index % 2 === 0 ? 'shop' : 'bank', kind: 'StatefulSet', name: `set-${index}` },
    object: `StatefulSet set-${index}`,
    message: 'the pod is forbidden: exceeded quota',
    since: at(1).getTime(),
    at: at(12).getTime(),
    target: 'config-1-25.00000001',
    rank: workloads(100)[index]?.rank ?? '',
    newestPod: at(0).getTime(),
    isAccepted: false,
    ...fields,
  });
  const waits = 'WaitingForPods/NotEnoughPods';

  it('is rolled back after 10 s, and says why', () => {
    const tag = TagHistory.begun();
    const refusals = [refusal(0), refusal(1)];
    assert.equal(tag.see(10, { refusals }), waits);
    assert.equal(tag.see(13, { refusals }), 'RolledBack/PodsRefused');
    assert.match(
      tag.now.message,
      /: the API server refuses the pods of 2 of 5 workloads of the canary, and of 0 of 95 .*: StatefulSet bank\/set-1: the pod is forbidden: exceeded quota; StatefulSet shop\/set-0: /,
    );
    assert.deepEqual(tag.events, ['Warning/RolledBack']);
  });

  const stable = Array.from({ length: 40 }, (_, index) => refusal(50 + index));
  const rows: [what: string, expected: string, refusals: ObservedRefusal[]][] = [
    ['waits while one namespace refuses them', waits, [refusal(0), refusal(2), refusal(4)]],
    ['waits while stable is refused equally', waits, [refusal(0), refusal(1), ...stable]],
    ['is rolled back because of one proof', 'RolledBack/PodsRefused', [refusal(0, { verdict: 'Proven' }), ...stable]],
    ['does not blame the canary for refused stable pods', waits, stable],
  ];
  for (const [what, expected, refusals] of rows) {
    it(what, () => {
      const tag = TagHistory.begun();
      assert.equal(tag.see(13, { refusals }), expected);
      const named = /; pods are refused: .*StatefulSet shop\/set-0: the pod is forbidden: exceeded quota/;
      if (expected === waits && refusals !== stable) assert.match(tag.now.message, named);
    });
  }
});
