import assert from 'node:assert/strict';
import { eachTest } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

describe('RevisionReconciler: removal', () => {
  const fixture = eachTest(new RevisionFixture());

  it('removes the webhook first, what answers it 2 s later, and then lets the object go', async () => {
    await fixture.install();
    fixture.cluster.writes.length = 0;
    fixture.cluster.remove('injectorconfigs', 'blue');
    assert.equal(await fixture.reconcile('blue'), 2000);
    assert.deepEqual(fixture.cluster.writes, ['DELETE mutatingwebhookconfigurations sidecar-injector-blue']);
    assert.equal(await fixture.reconcile('blue'), 2000);
    await fixture.clock.advance(1999);
    assert.equal(await fixture.reconcile('blue'), 1);
    assert.equal(fixture.cluster.names('secrets').length, 2);
    await fixture.clock.advance(1);
    await fixture.reconcile('blue');
    assert.ok(fixture.cluster.get('injectorconfigs', 'blue') !== undefined);
    await fixture.reconcile('blue');
    for (const plural of ['injectorconfigs', 'secrets', 'services', 'configmaps', 'mutatingwebhookconfigurations']) {
      assert.deepEqual(fixture.cluster.names(plural), [], plural);
    }
    assert.equal(await fixture.reconcile('blue'), 600_000);
  });

  it('sweeps up what an InjectorConfig left that vanished without its finalizer', async () => {
    await fixture.install();
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.metadata.finalizers = [];
      object.metadata.deletionTimestamp = 'now';
    });
    await fixture.reconcile('blue');
    await fixture.reconcile('blue');
    await fixture.clock.advance(2000);
    await fixture.reconcile('blue');
    assert.deepEqual(fixture.cluster.names('secrets'), []);
    assert.deepEqual(fixture.cluster.names('mutatingwebhookconfigurations'), []);
  });
});
