import assert from 'node:assert/strict';
import { forgeRefusal, fullQuota, invalidPod, refusePods } from '../testdata/refuse-pods.ts';
import { template } from '../testdata/operator-fixture.ts';
import { RolloutFixture, tag } from './testdata/rollout-fixture.ts';

describe('A canary whose pods the API server refuses', () => {
  const fixture = new RolloutFixture();
  beforeEach(() => fixture.begin(10));
  afterEach(() => fixture.stop());

  /** Refuses pods again every second for 20 s, or until the rollout is rolled back. */
  async function persist(refuse: (now: Date) => void): Promise<string> {
    for (let turn = 0; turn < 20 && fixture.rollout?.phase !== 'RolledBack'; turn += 1) {
      refuse(fixture.clock.now());
      await fixture.pass(1000);
      // The watch of Events is real.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return `${fixture.rollout?.phase}/${fixture.rollout?.reason}`;
  }
  const refusing = (workloads: readonly string[], message: string) => (now: Date) => {
    for (const name of workloads) refusePods(fixture.cluster, 'shop', name, message, now);
  };
  const waits = 'WaitingForPods/NotEnoughPods';

  it('is rolled back, and the status names workload, object and message', async () => {
    await fixture.canary('new', [50]);
    const [name = ''] = fixture.below(fixture.threshold);
    const began = fixture.clock.now().getTime();
    assert.equal(await persist(refusing([name], fullQuota)), 'RolledBack/PodsRefused');
    assert.ok(fixture.clock.now().getTime() - began < 15_000);
    assert.match(
      fixture.rollout?.message ?? '',
      new RegExp(
        `of 1 of 5 workloads .*: Deployment shop/${name} \\(ReplicaSet ${name}-5d9c7bbbf4\\): .*exceeded quota`,
      ),
    );
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
  });

  it('waits, and says why, if stable pods are refused equally', async () => {
    await fixture.canary('new', [50]);
    const all = [...fixture.below(fixture.threshold), ...fixture.above(fixture.threshold)];
    assert.equal(await persist(refusing(all, fullQuota)), waits);
    assert.match(fixture.rollout?.message ?? '', /; pods are refused: Deployment shop\/work-.*; and 3 more$/);
  });

  it('is not blamed for Events about objects that do not exist', async () => {
    await fixture.canary('new', [50]);
    const forge = (now: Date) => forgeRefusal(fixture.cluster, 'shop', 'work-1-5d9c7bbbf4', fullQuota, now);
    assert.equal(await persist(forge), waits);
    assert.doesNotMatch(fixture.rollout?.message ?? '', /refused/);
  });

  it('is not blamed for a workload with a pod that has the canary', async () => {
    await fixture.canary('new', [50], { minReadySeconds: 600 });
    fixture.roll();
    assert.equal(await persist(refusing(fixture.below(fixture.threshold), fullQuota)), 'Progressing/WatchingPods');
  });

  /** A template whose image is missing in pods with one container, but not in all typical pods. */
  const invalidTemplate = template('{{ if gt (len .Spec.Containers) 1 }}b{{ end }}');
  const proofs: [what: string, old: string, new: string, expected: string][] = [
    [
      'rolled back at any bound if only the canary makes the pod invalid',
      template('one'),
      invalidTemplate,
      'RolledBack/PodsRefused',
    ],
    ['not blamed if stable makes the pod invalid as well', invalidTemplate, invalidTemplate, waits],
    ['not blamed beyond its share if that is not known', template('one'), template('two'), waits],
  ];
  for (const [what, stable, canary, expected] of proofs) {
    it(`is ${what}`, async () => {
      await fixture.render('old', stable);
      await fixture.render('new', canary);
      await fixture.canary('new', [50], { maximumFailingPercent: 100 });
      const [name = ''] = fixture.below(fixture.threshold);
      assert.equal(await persist(refusing([name], invalidPod)), expected);
      const proof =
        /refuses pods of the canary that are valid with the stable revision: Deployment .*: the pod is invalid/;
      if (expected !== waits) assert.match(fixture.rollout?.message ?? '', proof);
    });
  }
});
