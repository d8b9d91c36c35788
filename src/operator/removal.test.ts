import assert from 'node:assert/strict';
import { injectorConfig, OperatorFixture } from './testdata/operator-fixture.ts';

const webhook = ['mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined] as const;
const service = ['services', 'sidecar-injector-blue', 'injection'] as const;

describe('Removal', () => {
  let fixture: OperatorFixture;
  beforeEach(async () => {
    fixture = new OperatorFixture();
    await fixture.start();
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    await fixture.reconcile('blue');
  });
  afterEach(() => fixture.stop());

  const left = (): string[] => [
    ...fixture.cluster.names('mutatingwebhookconfigurations'),
    ...fixture.cluster.names('services'),
    ...fixture.cluster.names('secrets'),
    ...fixture.cluster.names('configmaps'),
  ];
  /** Reconciles the InjectorConfig as often as it asks for it at once, with the grace in between. */
  const finish = async (): Promise<void> => {
    for (let pass = 0; pass < 6 && fixture.cluster.get('injectorconfigs', 'blue') !== undefined; pass += 1) {
      await fixture.reconcile('blue');
      await fixture.clock.advance(2000);
    }
  };

  for (const [plural, name, namespace] of [webhook, service]) {
    it(`waits for one of ${plural} that the finalizer of somebody else holds, names it, and keeps what comes after it`, async () => {
      fixture.cluster.edit(plural, name, namespace, (object) => {
        object.metadata.finalizers = ['example.com/hold'];
      });
      const before = left();
      fixture.cluster.remove('injectorconfigs', 'blue');
      const blocked = {
        name: 'RemovalBlockedError',
        message: new RegExp(`InjectorConfig blue: .*${name} \\(example\\.com/hold\\)`),
      };
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
      if (plural === webhook[0]) assert.deepEqual(left(), before);
      assert.equal(fixture.cluster.writes.filter((write) => write === `DELETE ${plural} ${name}`).length, 1);
      fixture.cluster.edit(plural, name, namespace, (object) => {
        object.metadata.finalizers = [];
      });
      await finish();
      assert.deepEqual(left(), []);
      assert.equal(fixture.cluster.get('injectorconfigs', 'blue'), undefined);
    });
  }
});
