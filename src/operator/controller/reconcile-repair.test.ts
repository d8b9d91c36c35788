import assert from 'node:assert/strict';
import { failure, json } from '../../kube/testdata/fake-api-server.ts';
import { template } from '../testdata/operator-fixture.ts';
import { RevisionFixture, type Webhook } from '../testdata/revision-fixture.ts';

describe('RevisionReconciler: repair', () => {
  let fixture: RevisionFixture;
  beforeEach(() => {
    fixture = new RevisionFixture();
  });
  afterEach(() => fixture.stop());

  it('repairs the webhook and the ConfigMaps of the last good configuration while the spec is broken', async () => {
    const good = await fixture.startInstalled();
    fixture.setTemplate('blue', '{{');
    await fixture.reconcile('blue');
    fixture.cluster.remove('configmaps', `sidecar-injector-blue-${good}`, 'injection');
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(fixture.hash('blue'), good);
    assert.ok(fixture.cluster.get('configmaps', `sidecar-injector-blue-${good}`, 'injection'));
  });

  const damages: [what: string, plural: string, name: string, namespaced: boolean, event: RegExp][] = [
    [
      'the webhook configuration',
      'mutatingwebhookconfigurations',
      'sidecar-injector-blue',
      false,
      /Repaired: MutatingWebhookConfiguration sidecar-injector-blue was missing; made again/,
    ],
    ['the Service', 'services', 'sidecar-injector-blue', true, /Repaired: Service sidecar-injector-blue was missing/],
    [
      'the serving Secret',
      'secrets',
      'sidecar-injector-blue-serving',
      true,
      /Repaired: Secret sidecar-injector-blue-serving was missing/,
    ],
    [
      'the plain ConfigMap',
      'configmaps',
      'sidecar-injector-blue',
      true,
      /Repaired: ConfigMap sidecar-injector-blue was missing/,
    ],
  ];
  for (const [what, plural, name, namespaced, event] of damages) {
    it(`makes ${what} again when it is deleted, and says so`, async () => {
      await fixture.startInstalled();
      const namespace = namespaced ? 'injection' : undefined;
      const before = fixture.cluster.get(plural, name, namespace)!;
      fixture.cluster.remove(plural, name, namespace);
      await fixture.reconcile('blue');
      const restored = fixture.cluster.get(plural, name, namespace)!;
      assert.deepEqual({ ...restored, metadata: {} }, { ...before, metadata: {} });
      assert.deepEqual(restored.metadata.labels, before.metadata.labels);
      await fixture.recorded(event);
    });
  }

  it('keeps trust in the served leaf when the Secret of the rotation is deleted', async () => {
    await fixture.startInstalled();
    const serving = fixture.cluster.get('secrets', 'sidecar-injector-blue-serving', 'injection')!.data;
    const [before] = fixture.webhooks('blue');
    fixture.cluster.remove('secrets', 'sidecar-injector-blue', 'injection');
    await fixture.reconcile('blue');
    const bundle = Buffer.from(fixture.webhooks('blue')[0]!.clientConfig.caBundle, 'base64').toString();
    assert.ok(bundle.includes(Buffer.from(before!.clientConfig.caBundle, 'base64').toString().trim()));
    const kept = fixture.cluster.get('secrets', 'sidecar-injector-blue-serving', 'injection')!.data as Record<
      string,
      string
    >;
    assert.equal(kept['tls.crt'], (serving as Record<string, string>)['tls.crt']);
  });

  it('does not make new keys when the Secret of the rotation only lost its labels', async () => {
    await fixture.startInstalled();
    const before = fixture.cluster.get('secrets', 'sidecar-injector-blue', 'injection')!.data;
    fixture.cluster.edit('secrets', 'sidecar-injector-blue', 'injection', (object) => {
      delete object.metadata.labels;
    });
    await fixture.until(() => fixture.view.secrets.get('sidecar-injector-blue', 'injection') === undefined);
    await fixture.reconcilers.revisions.reconcile('blue', new AbortController().signal);
    const after = fixture.cluster.get('secrets', 'sidecar-injector-blue', 'injection')!;
    assert.deepEqual(after.data, before);
    assert.equal(after.metadata.labels?.['sidecar-injector.io/injector-config'], 'blue');
  });

  it('names the other manager while there is a conflict, and forgets it a minute later', async () => {
    await fixture.startInstalled();
    fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      (object.webhooks as Webhook[])[0]!.clientConfig.caBundle = '';
    });
    const causes = [
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "pilot-discovery" using v1',
        field: '.webhooks[0].clientConfig.caBundle',
      },
    ];
    fixture.cluster.faults.push({
      matches: (method, requested) => method === 'PATCH' && requested.includes('mutatingwebhook'),
      answer: (response) => {
        json(response, 409, { code: 409, reason: 'Conflict', message: 'conflict', details: { causes } });
      },
      times: 1,
    });
    await fixture.reconcile('blue');
    assert.match(
      fixture.condition('blue', 'Conflict'),
      /^True\/ForeignManager: pilot-discovery also writes \.webhooks\[0\]\.clientConfig\.caBundle/,
    );
    assert.ok(
      fixture.events().some((event) => /Repaired: Mutating.* by pilot-discovery at webhooks; restored/.test(event)),
    );
    fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      (object.webhooks as Webhook[])[0]!.clientConfig.caBundle = '';
    });
    fixture.cluster.writes.length = 0;
    assert.equal(await fixture.reconcile('blue'), 1000);
    assert.deepEqual(fixture.cluster.writes, [], 'taken back once a second, no more');
    assert.match(fixture.condition('blue', 'Ready'), /^True/);
    await fixture.clock.advance(1000);
    assert.equal(await fixture.reconcile('blue'), 59_000);
    assert.notEqual(fixture.webhooks('blue')[0]!.clientConfig.caBundle, '');
    await fixture.clock.advance(60_000);
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'Conflict'), /^False\/NoConflict/);
  });

  it('takes a webhook back that somebody led to another namespace', async () => {
    await fixture.startInstalled();
    fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      for (const { clientConfig } of object.webhooks as Webhook[]) {
        Object.assign(clientConfig.service, { namespace: 'elsewhere' });
      }
    });
    await fixture.reconcile('blue');
    assert.ok(
      fixture
        .webhooks('blue')
        .every(
          ({ clientConfig }) => 'namespace' in clientConfig.service && clientConfig.service.namespace === 'injection',
        ),
    );
  });

  it('keeps the webhook as it is, but for its caBundle, when the spec of the webhook is wrong', async () => {
    await fixture.startInstalled();
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.spec = {
        ...(object.spec as object),
        webhook: { selection: 'Custom', namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      };
    });
    fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      (object.webhooks as Webhook[])[0]!.clientConfig.caBundle = '';
    });
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'Ready'), /^False\/Invalid: .*namespaceSelector/);
    assert.equal(fixture.webhooks('blue').length, 2);
    assert.ok(fixture.webhooks('blue').every(({ clientConfig }) => clientConfig.caBundle !== ''));
  });

  it('repairs the caBundle of the webhook there is while the API server refuses the one that is wanted', async () => {
    await fixture.startInstalled();
    const { length } = fixture.webhooks('blue');
    const good = fixture.hash('blue');
    const setConditions = (matchConditions: object[]): void => {
      fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
        object.spec = {
          injection: { templates: { sidecar: template('two') } },
          webhook: { matchConditions },
        };
      });
    };
    const message = 'webhooks[0].matchConditions[3].expression: Invalid value: "object.": compilation failed';
    fixture.cluster.faults.push({
      matches: (method, requested, body) =>
        method !== 'GET' && requested.includes('mutatingwebhook') && body.includes('"object."'),
      answer: (response) => {
        failure(response, 422, 'Invalid', message);
      },
    });
    setConditions([{ name: 'bad', expression: 'object.' }]);
    for (const damage of ['first', 'second']) {
      fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
        (object.webhooks as Webhook[])[0]!.clientConfig.caBundle = '';
      });
      await fixture.reconcile('blue');
      await fixture.clock.advance(1000);
      await fixture.reconcile('blue');
      assert.ok(
        fixture.webhooks('blue').every(({ clientConfig }) => clientConfig.caBundle !== ''),
        damage,
      );
      assert.equal(fixture.condition('blue', 'WebhookReady'), `False/Invalid: ${message}; the webhook stays as it was`);
      const again = await fixture.reconcile('blue');
      assert.ok(again > 0 && again <= 60_000, `what was refused is tried again after a minute, not ${again}`);
    }
    assert.equal(fixture.hash('blue'), good);
    assert.equal(fixture.webhooks('blue').length, length);
    assert.equal(fixture.events().filter((event) => event.startsWith('Invalid: webhooks[0]')).length, 1);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'WebhookReady'), /^False\/Invalid: .*; there is no webhook yet/);
    setConditions([]);
    await fixture.clock.advance(1000);
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'WebhookReady'), /^True\/Published/);
    assert.notEqual(fixture.hash('blue'), good);
  });
});
