import assert from 'node:assert/strict';
import { eachTest, template } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

describe('RevisionReconciler: repair', () => {
  const fixture = eachTest(new RevisionFixture());

  it('repairs the webhook and the ConfigMaps of the last good configuration while the spec is broken', async () => {
    const good = await fixture.installed();
    await fixture.render('blue', '{{');
    fixture.cluster.remove('configmaps', `sidecar-injector-blue-${good}`, 'injection');
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(fixture.hash('blue'), good);
    assert.ok(fixture.cluster.get('configmaps', `sidecar-injector-blue-${good}`, 'injection'));
  });

  const damages: [what: string, plural: string, kind: string, name: string, namespace?: string][] = [
    ['the webhook configuration', 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', 'blue'],
    ['the Service', 'services', 'Service', 'blue', 'injection'],
    ['the serving Secret', 'secrets', 'Secret', 'blue-serving', 'injection'],
    ['the ConfigMap without a hash in its name', 'configmaps', 'ConfigMap', 'blue', 'injection'],
  ];
  for (const [what, plural, kind, short, namespace] of damages) {
    it(`recreates ${what} after a deletion, and records an Event`, async () => {
      await fixture.install();
      const name = `sidecar-injector-${short}`;
      const before = fixture.cluster.get(plural, name, namespace)!;
      fixture.cluster.remove(plural, name, namespace);
      await fixture.reconcile('blue');
      const restored = fixture.cluster.get(plural, name, namespace)!;
      assert.deepEqual({ ...restored, metadata: {} }, { ...before, metadata: {} });
      assert.deepEqual(restored.metadata.labels, before.metadata.labels);
      await fixture.recorded(new RegExp(`Repaired: ${kind} ${name} was missing; recreated`));
    });
  }

  it('keeps the served leaf trusted when the Secret of the rotation is deleted', async () => {
    await fixture.install();
    const { 'tls.crt': leaf } = fixture.secret('blue-serving');
    const [before] = fixture.webhooks('blue');
    fixture.cluster.remove('secrets', 'sidecar-injector-blue', 'injection');
    await fixture.reconcile('blue');
    const bundle = Buffer.from(fixture.webhooks('blue')[0]!.clientConfig.caBundle, 'base64').toString();
    assert.ok(bundle.includes(Buffer.from(before!.clientConfig.caBundle, 'base64').toString().trim()));
    assert.equal(fixture.secret('blue-serving')['tls.crt'], leaf);
  });

  it('creates no new keys when the Secret of the rotation only lost its labels', async () => {
    await fixture.install();
    const before = fixture.cluster.get('secrets', 'sidecar-injector-blue', 'injection')!.data;
    fixture.cluster.edit('secrets', 'sidecar-injector-blue', 'injection', (object) => {
      delete object.metadata.labels;
    });
    await fixture.until(() => fixture.view.secrets.get('sidecar-injector-blue', 'injection') === undefined);
    await fixture.passNow('blue');
    const after = fixture.cluster.get('secrets', 'sidecar-injector-blue', 'injection')!;
    assert.deepEqual(after.data, before);
    assert.equal(after.metadata.labels?.['sidecar-injector.io/injector-config'], 'blue');
  });

  it('names the other field manager in a conflict, and clears the condition after a minute', async () => {
    await fixture.install();
    fixture.emptyBundles('blue', 'pilot-discovery');
    await fixture.reconcile('blue');
    const foreign =
      /^True\/ForeignManager: pilot-discovery also writes \.webhooks\[name="[^"]+"\]\.clientConfig\.caBundle/;
    fixture.says('blue', 'Conflict', foreign);
    assert.ok(
      fixture.events().some((event) => /Repaired: Mutating.* by pilot-discovery at webhooks; restored/.test(event)),
    );
    fixture.emptyBundles('blue', 'pilot-discovery');
    fixture.cluster.writes.length = 0;
    assert.equal(await fixture.reconcile('blue'), 1000);
    assert.deepEqual(fixture.cluster.writes, [], 'the edit is reverted after a second');
    fixture.says('blue', 'Ready', /^True/);
    await fixture.clock.advance(1000);
    assert.equal(await fixture.reconcile('blue'), 60_000);
    assert.notEqual(fixture.webhooks('blue')[0]!.clientConfig.caBundle, '');
    await fixture.later(60_000, 'blue');
    fixture.says('blue', 'Conflict', /^False\/NoConflict/);
  });

  it('repairs a webhook that another client pointed to another namespace', async () => {
    await fixture.install();
    fixture.editWebhooks('blue', ({ clientConfig: { service } }) => (service.namespace = 'elsewhere'));
    await fixture.reconcile('blue');
    assert.ok(fixture.webhooks('blue').every(({ clientConfig: { service } }) => service.namespace === 'injection'));
  });

  it('keeps the webhook but repairs its caBundle while the spec of the webhook is invalid', async () => {
    await fixture.install();
    const namespaceSelector = { matchExpressions: [{ key: 'a', operator: 'In' }] };
    fixture.setSpec('blue', { webhook: { selection: 'Custom', namespaceSelector } });
    fixture.emptyBundles('blue');
    await fixture.reconcile('blue');
    fixture.says('blue', 'Ready', /^False\/Invalid: .*namespaceSelector/);
    assert.equal(fixture.webhooks('blue').length, 2);
    assert.ok(fixture.webhooks('blue').every(({ clientConfig }) => clientConfig.caBundle !== ''));
  });

  it('repairs the caBundle of the live webhook while the API server rejects the desired webhook', async () => {
    await fixture.install();
    const { length } = fixture.webhooks('blue');
    const good = fixture.hash('blue');
    const setConditions = (matchConditions: object[]): void => {
      fixture.setSpec('blue', {
        injection: { templates: { sidecar: template('two') } },
        webhook: { matchConditions },
      });
    };
    const message = 'webhooks[0].matchConditions[3].expression: Invalid value: "object.": compilation failed';
    const isWrong = (method: string, requested: string, body: string): boolean =>
      method !== 'GET' && requested.includes('mutatingwebhook') && body.includes('"object."');
    fixture.cluster.fail(isWrong, 422, 'Invalid', message);
    setConditions([{ name: 'bad', expression: 'object.' }]);
    for (const damage of ['first', 'second']) {
      fixture.emptyBundles('blue');
      await fixture.reconcile('blue');
      await fixture.later(1000, 'blue');
      assert.ok(
        fixture.webhooks('blue').every(({ clientConfig }) => clientConfig.caBundle !== ''),
        damage,
      );
      assert.equal(fixture.condition('blue', 'WebhookReady'), `False/Invalid: ${message}; the webhook stays as it was`);
      const again = await fixture.reconcile('blue');
      assert.ok(again > 0 && again <= 60_000, `a rejected write is retried within a minute, not after ${again} ms`);
    }
    assert.equal(fixture.hash('blue'), good);
    assert.equal(fixture.webhooks('blue').length, length);
    assert.equal(fixture.events().filter((event) => event.startsWith('Invalid: webhooks[0]')).length, 1);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.later(1000, 'blue');
    fixture.says('blue', 'WebhookReady', /^False\/Invalid: .*; there is no webhook yet/);
    setConditions([]);
    await fixture.later(1000, 'blue');
    fixture.says('blue', 'WebhookReady', /^True\/Published/);
    assert.notEqual(fixture.hash('blue'), good);
  });
});
