import assert from 'node:assert/strict';
import { eachTest, template } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

describe('RevisionReconciler: publication', () => {
  const fixture = eachTest(new RevisionFixture());

  it('keeps the last good configuration while a template does not compile, and reports line and column', async () => {
    const good = await fixture.installed();
    await fixture.render('blue', 'spec:\n  x: {{ .Broken');
    assert.equal(fixture.hash('blue'), good);
    fixture.says('blue', 'TemplatesValid', /^False\/ConfigurationInvalid: .*templates\.sidecar.* line 2/s);
    fixture.says('blue', 'Ready', /^False\/ConfigurationInvalid/);
    fixture.says('blue', 'WebhookReady', new RegExp(`^True/Published: .*${good}`));
    const { observedGeneration, config } = fixture.statusOf('blue');
    assert.deepEqual([observedGeneration, config], [2, { hash: good }]);
    await fixture.reconcile('blue');
    await fixture.recorded(/^ConfigurationInvalid/);
    assert.equal(fixture.events().filter((event) => event.startsWith('ConfigurationInvalid')).length, 1);
    await fixture.render('blue', template('two'));
    assert.notEqual(fixture.hash('blue'), good);
    fixture.says('blue', 'Ready', /^True/);
  });

  it('reports how many pods the published configuration refused, and the last refused pod', async () => {
    await fixture.installed();
    assert.equal(fixture.condition('blue', 'InjectionFailing'), 'none');
    const failure = { reason: 'TemplateFailed', message: 'no field Nmae', pod: 'shop/web-' };
    const times = { first: Date.UTC(2026, 5, 1), last: Date.UTC(2026, 5, 1, 0, 1) };
    fixture.reports.failing = { injectorConfig: 'blue', hash: '', count: 3, ...times, ...failure };
    await fixture.reconcile('blue');
    const expected =
      /^True\/TemplateFailed: 3 pods were refused since 2026-06-01T00:00:00Z, most recently at 2026-06-01T00:01:00Z: shop\/web-: no field Nmae$/;
    fixture.says('blue', 'InjectionFailing', expected);
    fixture.says('blue', 'Ready', /^True/);
    await fixture.recorded(/^InjectionFailing: configuration [0-9a-f]{8} cannot inject pods$/);
    fixture.reports.failing = undefined;
    await fixture.reconcile('blue');
    fixture.says('blue', 'InjectionFailing', /^False\/NoFailure/);
  });

  it('publishes nothing until a configuration compiles', async () => {
    await fixture.install('blue', { injection: { templates: { sidecar: '{{ nope }}' } } });
    assert.equal(fixture.path('blue'), undefined);
    assert.deepEqual(fixture.cluster.names('configmaps'), []);
    fixture.says('blue', 'WebhookReady', /^False\/NothingToPublish/);
    fixture.says('blue', 'Ready', /^False\/ConfigurationInvalid/);
  });

  it('writes the path in a format that all replicas read, and keeps the old path if no such format exists', async () => {
    await fixture.installed();
    const before = fixture.path('blue');
    fixture.reports.format = 'replica-2 reads 3';
    await fixture.render('blue', template('two'));
    assert.equal(fixture.path('blue'), before);
    const waiting =
      /^False\/WaitingForReplicas: no path format of this version is supported by every replica \(replica-2 reads 3\); the webhook stays as it was$/;
    fixture.says('blue', 'WebhookReady', waiting);
    fixture.reports.format = { name: '2', write: () => '/v2/blue', read: () => undefined };
    await fixture.reconcile('blue');
    assert.equal(fixture.path('blue'), '/v2/blue');
    fixture.says('blue', 'Ready', /^True/);
  });

  it('moves the webhook only after every replica has loaded the configuration', async () => {
    fixture.reports.missing = ['replica-2'];
    await fixture.install();
    assert.equal(fixture.path('blue'), undefined);
    const waiting = /^False\/WaitingForReplicas: configuration [0-9a-f]{8} is not served yet by replica-2/;
    fixture.says('blue', 'WebhookReady', waiting);
    fixture.reports.missing = [];
    assert.equal(await fixture.reconcile('blue'), 600_000);
    const first = fixture.hash('blue');
    fixture.reports.missing = ['replica-1', 'replica-2'];
    assert.equal(await fixture.render('blue', template('two')), 1000);
    assert.equal(fixture.hash('blue'), first);
    fixture.says('blue', 'Ready', /^False\/WaitingForReplicas/);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(
      fixture.path('blue'),
      undefined,
      'a new webhook may not name a configuration that replicas cannot serve',
    );
    fixture.reports.missing = [];
    await fixture.reconcile('blue');
    assert.notEqual(fixture.hash('blue'), first);
  });

  it('advises how to end a long wait for a replica', async () => {
    fixture.reports.missing = ['replica-2'];
    await fixture.install();
    assert.doesNotMatch(fixture.condition('blue', 'WebhookReady'), /delete the pod/);
    await fixture.later(300_000, 'blue');
    const advice =
      /not served yet by replica-2; this has lasted for more than 5 minutes: .*delete the pod; the operator ignores its Lease \(injector-replica-<pod>\)/;
    fixture.says('blue', 'WebhookReady', advice);
    assert.equal(fixture.path('blue'), undefined);
    await fixture.render('blue', template('two'));
    assert.doesNotMatch(fixture.condition('blue', 'WebhookReady'), /delete the pod/, 'a new wait has begun');
  });

  it('is not Ready if replicas are absent for longer than a restart takes', async () => {
    await fixture.install();
    const path = fixture.path('blue');
    fixture.reports.missing = ['any replica (none is running)'];
    assert.equal(await fixture.reconcile('blue'), 1000);
    // A replica may be restarting.
    fixture.says('blue', 'Ready', /^True/);
    fixture.clock.sleep(30_000);
    await fixture.reconcile('blue');
    fixture.says('blue', 'Ready', /^False\/NoReplica: .*spec\.paused/);
    assert.equal(fixture.path('blue'), path);
    await fixture.recorded(/^NoReplica/);
    fixture.reports.missing = [];
    await fixture.reconcile('blue');
    fixture.says('blue', 'Ready', /^True/);
  });

  it('restores the published configuration when only the status names it', async () => {
    const good = await fixture.installed();
    fixture.setTemplate('blue', '{{');
    fixture.reports.missing = ['replica-1'];
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(fixture.path('blue'), undefined);
    fixture.reports.missing = [];
    await fixture.reconcile('blue');
    assert.equal(fixture.hash('blue'), good);
  });

  it('keeps the published configuration when the status is lost', async () => {
    const good = await fixture.installed();
    fixture.setTemplate('blue', '{{');
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      delete object.status;
    });
    await fixture.reconcile('blue');
    assert.equal(fixture.hash('blue'), good);
    assert.deepEqual(fixture.statusOf('blue').config, { hash: good });
  });

  for (const [what, isRestarted] of [
    ['when the status names an unknown configuration', false],
    ['after a restart, when the status names an unknown configuration', true],
  ] as const) {
    it(`does not move the webhook ${what}`, async () => {
      const good = await fixture.installed();
      fixture.setTemplate('blue', '{{');
      fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
        object.status = { ...(object.status as object), config: { hash: 'deadbeef' } };
      });
      if (isRestarted) fixture.restart();
      await fixture.reconcile('blue');
      assert.equal(fixture.hash('blue'), good);
      fixture.says('blue', 'WebhookReady', new RegExp(`^True/Published: .*${good}`));
      assert.deepEqual(fixture.statusOf('blue').config, { hash: good });
    });
  }

  it('reports that the published configuration is lost, and publishes the next configuration that compiles', async () => {
    const good = await fixture.installed();
    fixture.setTemplate('blue', '{{');
    fixture.cluster.remove('configmaps', `sidecar-injector-blue-${good}`, 'injection');
    fixture.cluster.remove('configmaps', 'sidecar-injector-blue', 'injection');
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.status = { ...(object.status as object), config: { hash: 'deadbeef' } };
    });
    fixture.emptyBundles('blue');
    fixture.reports.missing = ['replica-1'];
    // Names of Events contain the time, so advance the clock.
    await fixture.clock.advance(1);
    fixture.restart();
    await fixture.reconcile('blue');
    assert.equal(fixture.hash('blue'), good);
    assert.notEqual(fixture.webhooks('blue')[0]!.clientConfig.caBundle, '');
    const lost = new RegExp(`^False/ConfigurationLost: .*sidecar-injector-blue-${good} .*replica-1; correct`);
    fixture.says('blue', 'WebhookReady', lost);
    await fixture.recorded(/^ConfigurationLost: the published configuration [0-9a-f]{8} is lost/);
    fixture.setTemplate('blue', template('two'));
    fixture.reports.missing = [];
    await fixture.later(1000, 'blue');
    assert.notEqual(fixture.hash('blue'), good);
    fixture.says('blue', 'WebhookReady', /^True/);
  });

  it('repairs the live webhook while it waits for replicas', async () => {
    const first = await fixture.installed();
    fixture.reports.missing = ['replica-1'];
    await fixture.render('blue', template('two'));
    fixture.editWebhooks('blue', (webhook) => (webhook.failurePolicy = 'Ignore'));
    await fixture.reconcile('blue');
    assert.equal(fixture.webhooks('blue')[0]!.failurePolicy, 'Fail');
    assert.equal(fixture.hash('blue'), first);
  });

  it('restores the ConfigMap of the published configuration while replicas load the next configuration', async () => {
    const first = await fixture.installed();
    fixture.reports.missing = ['replica-1'];
    await fixture.render('blue', template('two'));
    fixture.cluster.remove('configmaps', `sidecar-injector-blue-${first}`, 'injection');
    await fixture.reconcile('blue');
    assert.ok(fixture.cluster.get('configmaps', `sidecar-injector-blue-${first}`, 'injection'));
    assert.equal(fixture.hash('blue'), first);
  });

  it('keeps the last three configurations, so that a reverted edit reuses its ConfigMap', async () => {
    const first = await fixture.installed();
    for (const image of ['two', 'three', 'four']) {
      await fixture.render('blue', template(image));
    }
    const hashed = (): string[] => fixture.cluster.names('configmaps').filter((name) => /-[0-9a-f]{8}$/.test(name));
    assert.equal(hashed().length, 3);
    assert.ok(!hashed().includes(`sidecar-injector-blue-${first}`));
    fixture.setTemplate('blue', template('two'));
    fixture.cluster.writes.length = 0;
    await fixture.reconcile('blue');
    assert.ok(!fixture.cluster.writes.some((write) => write.includes(`configmaps sidecar-injector-blue-`)));
    assert.equal(hashed().length, 3);
  });
});
