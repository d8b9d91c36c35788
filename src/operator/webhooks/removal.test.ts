import assert from 'node:assert/strict';
import { eachTest, injectorConfig, OperatorFixture } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const webhook = ['mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined] as const;
const service = ['services', 'sidecar-injector-blue', 'injection'] as const;

describe('Removal', () => {
  const fixture = eachTest(new OperatorFixture());
  beforeEach(async () => {
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    await fixture.reconcile('blue');
  });

  const remaining = (): string[] => [
    ...fixture.cluster.names('mutatingwebhookconfigurations'),
    ...fixture.cluster.names('services'),
    ...fixture.cluster.names('secrets'),
    ...fixture.cluster.names('configmaps'),
  ];
  /** Reconciles the InjectorConfig until it is deleted, with the grace period between passes. */
  const finish = async (): Promise<void> => {
    for (let pass = 0; pass < 6 && fixture.cluster.get('injectorconfigs', 'blue') !== undefined; pass += 1) {
      await fixture.reconcile('blue');
      await fixture.clock.advance(2000);
    }
  };

  for (const [plural, name, namespace] of [webhook, service]) {
    it(`waits while one of the ${plural} has a foreign finalizer, names it, and keeps later objects`, async () => {
      fixture.cluster.edit(plural, name, namespace, (object) => {
        object.metadata.finalizers = ['example.com/hold'];
      });
      const before = remaining();
      fixture.cluster.remove('injectorconfigs', 'blue');
      const message = new RegExp(`InjectorConfig blue: .*${name} \\(example\\.com/hold\\)`);
      const blocked = { name: 'RemovalBlockedError', message };
      if (plural === service[0]) {
        await fixture.reconcile('blue');
        await fixture.reconcile('blue');
        await fixture.clock.advance(2000);
      }
      for (let pass = 0; pass < 3; pass += 1) {
        await assert.rejects(fixture.reconcile('blue'), blocked);
        await fixture.clock.advance(10_000);
      }
      assert.ok(fixture.cluster.get('injectorconfigs', 'blue') !== undefined);
      if (plural === webhook[0]) assert.deepEqual(remaining(), before);
      assert.equal(fixture.cluster.writes.filter((write) => write === `DELETE ${plural} ${name}`).length, 1);
      fixture.cluster.edit(plural, name, namespace, (object) => {
        object.metadata.finalizers = [];
      });
      await finish();
      assert.deepEqual(remaining(), []);
      assert.equal(fixture.cluster.get('injectorconfigs', 'blue'), undefined);
    });
  }

  const owned: [plural: string, name: string, namespace: string | undefined][] = [
    [...webhook],
    [...service],
    ['configmaps', 'sidecar-injector-blue', 'injection'],
    ['secrets', 'sidecar-injector-blue', 'injection'],
    ['secrets', 'sidecar-injector-blue-serving', 'injection'],
  ];
  const relabel = (labels: Record<string, string>, manager?: string): void => {
    for (const [plural, name, namespace] of owned) {
      fixture.cluster.edit(plural, name, namespace, (object) => {
        object.metadata.labels = labels;
        if (manager !== undefined) object.metadata.managedFields = [{ manager }];
      });
    }
  };

  it('finds objects by name that lost their labels while no operator ran, and removes the webhook first', async () => {
    relabel({}, 'sidecar-injector');
    fixture.cluster.remove('injectorconfigs', 'blue');
    fixture.restart();
    await fixture.view.synced(new AbortController().signal);
    fixture.cluster.writes.length = 0;
    await finish();
    assert.deepEqual(remaining(), []);
    const order = fixture.cluster.writes.map((write) => write.split(' ').slice(0, 2).join(' '));
    assert.equal(order[0], 'DELETE mutatingwebhookconfigurations');
    assert.equal(order.at(-1), 'PATCH injectorconfigs');
    assert.equal(fixture.cluster.get('injectorconfigs', 'blue'), undefined);
  });

  it('recognizes a webhook without labels and managedFields by its Service', async () => {
    fixture.cluster.edit(...webhook, (object) => {
      delete object.metadata.labels;
    });
    fixture.cluster.remove('injectorconfigs', 'blue');
    await finish();
    assert.deepEqual(remaining(), []);
  });

  const others: [what: string, labels: Record<string, string>, manager: string][] = [
    ['to another InjectorConfig', { 'sidecar-injector.io/injector-config': 'green' }, 'sidecar-injector'],
    ['to another operator class', { 'sidecar-injector.io/operator-class': 'other' }, 'sidecar-injector'],
  ];
  for (const [what, labels, manager] of others) {
    it(`keeps objects with the same names that belong ${what}`, async () => {
      relabel(labels, manager);
      fixture.cluster.remove('injectorconfigs', 'blue');
      await finish();
      const there = remaining();
      for (const [, name] of owned) assert.ok(there.includes(name), name);
      assert.equal(fixture.cluster.get('injectorconfigs', 'blue'), undefined);
    });
  }

  it('keeps a Secret with the same name that another client wrote', async () => {
    fixture.cluster.edit('secrets', 'sidecar-injector-blue', 'injection', (object) => {
      object.metadata.labels = {};
      object.metadata.managedFields = [{ manager: 'kubectl' }];
    });
    fixture.cluster.remove('injectorconfigs', 'blue');
    await finish();
    assert.deepEqual(remaining(), ['sidecar-injector-blue']);
  });
});

describe('RevisionReconciler: removal', () => {
  const fixture = eachTest(new RevisionFixture());

  it('removes the webhook, 2 s later the objects that serve it, and then the finalizer', async () => {
    await fixture.install();
    fixture.cluster.writes.length = 0;
    fixture.cluster.remove('injectorconfigs', 'blue');
    assert.equal(await fixture.reconcile('blue'), 2000);
    assert.deepEqual(fixture.cluster.writes, ['DELETE mutatingwebhookconfigurations sidecar-injector-blue']);
    assert.equal(await fixture.reconcile('blue'), 2000);
    await fixture.clock.advance(1999);
    assert.equal(await fixture.reconcile('blue'), 1);
    assert.equal(fixture.cluster.names('secrets').length, 2);
    await fixture.later(1, 'blue');
    assert.ok(fixture.cluster.get('injectorconfigs', 'blue') !== undefined);
    await fixture.reconcile('blue');
    for (const plural of ['injectorconfigs', 'secrets', 'services', 'configmaps', 'mutatingwebhookconfigurations']) {
      assert.deepEqual(fixture.cluster.names(plural), [], plural);
    }
    assert.equal(await fixture.reconcile('blue'), 600_000);
  });

  it('cleans up after an InjectorConfig that was deleted without its finalizer', async () => {
    await fixture.install();
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.metadata.finalizers = [];
      object.metadata.deletionTimestamp = 'now';
    });
    await fixture.reconcile('blue');
    await fixture.reconcile('blue');
    await fixture.later(2000, 'blue');
    assert.deepEqual(fixture.cluster.names('secrets'), []);
    assert.deepEqual(fixture.cluster.names('mutatingwebhookconfigurations'), []);
  });
});
