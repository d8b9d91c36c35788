import assert from 'node:assert/strict';
import { eachTest, injectorConfig, OperatorFixture } from '../testdata/operator-fixture.ts';

const name = 'sidecar-injector-serving';
const validator = 'injector-validator-default-serving';

describe('ServingRoleKeeper', () => {
  const fixture = eachTest(new OperatorFixture());
  const { signal } = new AbortController();
  const rules = (): unknown => fixture.cluster.get('roles', name, 'injection')?.rules;
  const names = (): string[] => (rules() as { resourceNames: string[] }[])[0]?.resourceNames ?? [];
  const roleSeen = (): Promise<void> =>
    fixture.until(
      () =>
        fixture.view.roles.get(name, 'injection')?.metadata.resourceVersion ===
        fixture.cluster.get('roles', name, 'injection')?.metadata.resourceVersion,
    );
  const writes = (): number => fixture.cluster.writes.filter((write) => write.includes(' roles ')).length;

  it('lets replicas list and watch the serving Secrets by name, and nothing else', async () => {
    await fixture.reconcilers.servingRole.reconcile(signal);
    assert.deepEqual(rules(), [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [validator], verbs: ['list', 'watch'] },
    ]);
  });

  it('has the name of every InjectorConfig of its class before anything else of it is written, in one write for all', async () => {
    for (const each of ['blue', 'green']) fixture.cluster.put('injectorconfigs', injectorConfig(each));
    fixture.cluster.put('injectorconfigs', injectorConfig('other', { operatorClass: 'canary' }));
    await fixture.reconcile('blue');
    await fixture.reconcile('green');
    assert.deepEqual(names(), [validator, 'sidecar-injector-blue-serving', 'sidecar-injector-green-serving']);
    assert.equal(writes(), 1);
  });

  it('writes one after the other when several are admitted at once', async () => {
    const { servingRole } = fixture.reconcilers;
    await Promise.all(['a', 'b', 'c'].map((each) => servingRole.admit(each, signal)));
    const expected = ['a', 'b', 'c'].map((each) => `sidecar-injector-${each}-serving`);
    assert.deepEqual(names().slice(1), expected);
  });

  it('takes back what somebody adds at once, and a name that is of no use two minutes later', async () => {
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    await fixture.reconcile('blue');
    fixture.cluster.edit('roles', name, 'injection', (role) => {
      (role.rules as { resourceNames: string[] }[])[0]?.resourceNames.push('sidecar-injector-blue');
    });
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, ({ metadata }) => {
      metadata.finalizers = [];
    });
    fixture.cluster.remove('injectorconfigs', 'blue');
    for (const plural of ['secrets', 'services', 'configmaps']) {
      for (const each of fixture.cluster.names(plural)) fixture.cluster.remove(plural, each, 'injection');
    }
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.caughtUp();
    await roleSeen();
    assert.equal(await fixture.reconcilers.servingRole.reconcile(signal), 120_000);
    assert.deepEqual(names(), [validator, 'sidecar-injector-blue-serving']);
    await fixture.clock.advance(120_000);
    await roleSeen();
    assert.equal(await fixture.reconcilers.servingRole.reconcile(signal), 120_000);
    assert.deepEqual(names(), [validator]);
    await roleSeen();
    assert.equal(await fixture.reconcilers.servingRole.reconcile(signal), 600_000);
  });

  it('writes only onto the version that it has seen', async () => {
    await fixture.reconcilers.servingRole.reconcile(signal);
    await roleSeen();
    const seen = fixture.view.roles.get(name, 'injection')!;
    fixture.cluster.edit('roles', name, 'injection', (role) => {
      role.rules = [];
    });
    await roleSeen();
    fixture.view.roles.replace([], '');
    fixture.view.roles.upsert(seen);
    await assert.rejects(fixture.reconcilers.servingRole.admit('blue', signal), /modified/);
    assert.deepEqual(rules(), []);
  });
});
