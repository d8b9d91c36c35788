import assert from 'node:assert/strict';
import { eachTest } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const configuration = ['mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined] as const;

describe('spec.paused', () => {
  const fixture = eachTest(new RevisionFixture());
  beforeEach(() => fixture.install());

  const pause = async (fields: Record<string, unknown> = {}): Promise<void> => {
    fixture.setSpec('blue', { paused: true, ...fields });
    fixture.cluster.writes.length = 0;
    await fixture.reconcile('blue');
  };
  const probes = (): number => fixture.cluster.writes.filter((write) => write.startsWith('POST configmaps')).length;
  const message =
    'spec.paused is set: the webhook is withdrawn, pods start without this injector, and the operator repairs nothing';

  it('withdraws the webhook, keeps the other objects, and records one Event', async () => {
    await pause();
    assert.deepEqual(fixture.cluster.writes, [
      'DELETE mutatingwebhookconfigurations sidecar-injector-blue',
      'PATCH injectorconfigs/status blue',
    ]);
    for (const type of ['Ready', 'WebhookReady'])
      assert.equal(fixture.condition('blue', type), `False/Paused: ${message}`);
    assert.equal(fixture.condition('blue', 'Paused'), `True/Paused: ${message}`);
    await fixture.recorded(/^Paused: /);
    fixture.restart();
    await fixture.reconcile('blue');
    assert.equal(fixture.events().filter((event) => event.startsWith('Paused')).length, 1);
    assert.equal(fixture.cluster.writes.filter((write) => !write.includes(' events ')).length, 2);
  });

  it('repairs nothing, and deletes a webhook that another client restores', async () => {
    const live = fixture.cluster.get(...configuration)!;
    await pause();
    fixture.cluster.remove('services', 'sidecar-injector-blue', 'injection');
    fixture.cluster.put('mutatingwebhookconfigurations', live);
    await fixture.reconcile('blue');
    assert.deepEqual(fixture.cluster.names('services'), []);
    assert.deepEqual(fixture.cluster.names('mutatingwebhookconfigurations'), []);
  });

  it('works when the rest of the spec is invalid', async () => {
    await pause({ revision: 'one', webhook: { timeoutSeconds: 99 } });
    assert.equal(fixture.path('blue'), undefined);
    assert.equal(fixture.statusOf('blue').revision, 'one');
  });

  it('when unset, restores the last good configuration after a reachability check if the spec does not compile', async () => {
    const good = fixture.hash('blue');
    await pause({ injection: { templates: { sidecar: '{{' } } });
    await fixture.edit('blue', { paused: false });
    assert.equal(fixture.hash('blue'), good);
    assert.equal(probes(), 1);
    fixture.says('blue', 'Paused', /^False\/NotPaused/);
    await fixture.recorded(/^Resumed: /);
    await fixture.reconcile('blue');
    assert.equal(fixture.events().filter((event) => event.startsWith('Resumed')).length, 1);
  });

  it('names the finalizer that blocks the deletion of the webhook, in a condition and an Event', async () => {
    fixture.cluster.edit(...configuration, (object) => {
      object.metadata.finalizers = ['example.com/hold'];
    });
    fixture.setSpec('blue', { paused: true });
    await assert.rejects(fixture.reconcile('blue'), { name: 'RemovalBlockedError' });
    const blocked = /ForeignFinalizer: .*sidecar-injector-blue \(example\.com\/hold\)/;
    fixture.says('blue', 'RemovalBlocked', blocked);
    fixture.says('blue', 'Ready', /^False\/RemovalBlocked/);
    await fixture.recorded(/^RemovalBlocked: .*example\.com\/hold/);
    await assert.rejects(fixture.reconcile('blue'), { name: 'RemovalBlockedError' });
    assert.equal(fixture.events().filter((event) => event.startsWith('RemovalBlocked')).length, 1);
    fixture.cluster.edit(...configuration, (object) => {
      object.metadata.finalizers = [];
    });
    await fixture.reconcile('blue');
    fixture.says('blue', 'RemovalBlocked', /^False\/NotBlocked/);
    fixture.says('blue', 'Ready', /^False\/Paused/);
  });
});
