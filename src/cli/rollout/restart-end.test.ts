import assert from 'node:assert/strict';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { RestartFixture } from '../../operator/restarts/testdata/restart-fixture.ts';
import { fullQuota, refusePods } from '../../operator/testdata/refuse-pods.ts';
import { rolloutEnd } from './rollout-standing.ts';

describe('rolloutEnd with a real operator', () => {
  let fixture: RestartFixture;
  beforeEach(() => {
    fixture = new RestartFixture();
  });
  afterEach(() => fixture.stop());

  /** Returns `rolloutEnd` of the stored tag, after a pass of the operator. */
  const end = async () => {
    await fixture.reconcileTag('prod');
    return rolloutEnd(parseRevisionTag(fixture.cluster.get('revisiontags', 'prod')), false);
  };

  it('ends only after the operator has counted and restarted all stale workloads', async () => {
    await fixture.begin();
    fixture.workload('web', `old.${fixture.hash('old')}`);
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    assert.match((await end())?.message ?? '', /^pods get revision old; .*; restarts: nothing to restart$/);
    await fixture.move('prod', 'new');
    assert.equal(await end(), undefined, 'Idle is from before the move');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.equal(await end(), undefined);
    fixture.completes('web', `new.${fixture.hash('new')}`);
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    assert.equal((await end())?.isSuccess, true);
  });

  it('ends with failure if the pods of a restart are refused, and says why', async () => {
    await fixture.begin();
    fixture.workload('web', `old.${fixture.hash('old')}`);
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    fixture.cluster.edit('deployments', 'web', 'shop', (web) => (web.status = {}));
    for (let turn = 0; turn < 3; turn += 1) {
      refusePods(fixture.cluster, 'shop', 'web', fullQuota, fixture.clock.now());
      await fixture.passOn();
    }
    assert.equal(fixture.status()?.phase, 'Stopped');
    const { isSuccess, message = '' } = (await end()) ?? {};
    assert.equal(isSuccess, false);
    assert.match(message, /web: restarted, but its new pods are refused \(ReplicaSet web-.*\): .*exceeded quota/);
  });

  it('ends with failure if restarts are not allowed', async () => {
    await fixture.begin(undefined, { restartWorkloads: false });
    assert.equal((await end())?.isSuccess, false);
  });
});
