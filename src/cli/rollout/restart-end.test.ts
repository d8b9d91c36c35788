import assert from 'node:assert/strict';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { RestartFixture } from '../../operator/restarts/testdata/restart-fixture.ts';
import { rolloutEnd } from './rollout-end.ts';

describe('the end of what an operator restarts', () => {
  let fixture: RestartFixture;
  beforeEach(() => {
    fixture = new RestartFixture();
  });
  afterEach(() => fixture.stop());

  /** What somebody who watches says of the tag as it is stored, once the operator has written its status. */
  const end = async () => {
    await fixture.reconcileTag('prod');
    return rolloutEnd(parseRevisionTag(fixture.cluster.get('revisiontags', 'prod')), false);
  };

  it('is there once what is stale after a move has been restarted, and not before anybody has looked', async () => {
    await fixture.begin();
    fixture.workload('web', `old.${fixture.hash('old')}`);
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    assert.match((await end())?.message ?? '', /^pods get revision old; .*; restarts: nothing to restart$/);
    await fixture.move('prod', 'new');
    assert.equal(await end(), undefined, 'Idle is of the time before the move');
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.equal(await end(), undefined);
    fixture.completes('web', `new.${fixture.hash('new')}`);
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    assert.equal((await end())?.isWanted, true);
  });

  it('is there, and not what was wanted, where the operator may not', async () => {
    await fixture.begin(undefined, { restartWorkloads: false });
    assert.equal((await end())?.isWanted, false);
  });
});
