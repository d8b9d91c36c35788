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

  it('allows replicas only to list and watch the serving Secrets by name', async () => {
    await fixture.reconcilers.servingRole.reconcile(signal);
    assert.deepEqual(rules(), [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [validator], verbs: ['list', 'watch'] },
    ]);
  });

  it('adds the Secrets of all InjectorConfigs of its class in one write, before their other objects', async () => {
    for (const each of ['blue', 'green']) fixture.cluster.put('injectorconfigs', injectorConfig(each));
    fixture.cluster.put('injectorconfigs', injectorConfig('other', { operatorClass: 'canary' }));
    await fixture.reconcile('blue');
    await fixture.reconcile('green');
    assert.deepEqual(names(), [validator, 'sidecar-injector-blue-serving', 'sidecar-injector-green-serving']);
    assert.equal(writes(), 1);
  });

  it('serializes concurrent writes', async () => {
    const { servingRole } = fixture.reconcilers;
    await Promise.all(['a', 'b', 'c'].map((each) => servingRole.admit(each, signal)));
    const expected = ['a', 'b', 'c'].map((each) => `sidecar-injector-${each}-serving`);
    assert.deepEqual(names().slice(1), expected);
  });

  it('removes a foreign name immediately, and the name of a deleted Secret after two minutes', async () => {
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

  it('does not overwrite a version of the Role that it has not seen', async () => {
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
