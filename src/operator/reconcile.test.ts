import assert from 'node:assert/strict';
import { isIssuedBy } from '../certs/verify-chain.ts';
import { X509Certificate } from 'node:crypto';
import { failure, json } from '../kube/testdata/fake-api-server.ts';
import { injectorConfig, OperatorFixture, template } from './testdata/operator-fixture.ts';

type Webhook = { clientConfig: { caBundle: string; service: { path: string } }; failurePolicy: string };

describe('RevisionReconciler', () => {
  let fixture: OperatorFixture;
  beforeEach(() => {
    fixture = new OperatorFixture();
  });
  afterEach(() => fixture.stop());

  const webhooks = (name: string): Webhook[] =>
    (fixture.cluster.get('mutatingwebhookconfigurations', `sidecar-injector-${name}`)?.webhooks ?? []) as Webhook[];
  const path = (name: string): string | undefined => webhooks(name)[0]?.clientConfig.service.path;
  const hash = (name: string): string =>
    /^\/revisions\/[^/]+\/([0-9a-f]{8})\/inject$/.exec(path(name) ?? '')?.[1] ??
    assert.fail(`${name} is not published`);
  /** Events are written without being waited for. */
  const recorded = (event: RegExp): Promise<void> =>
    fixture.until(() => fixture.events().some((each) => event.test(each)));
  const setTemplate = (name: string, text: string): void => {
    fixture.cluster.edit('injectorconfigs', name, undefined, (object) => {
      object.spec = { ...(object.spec as object), injection: { templates: { sidecar: text } } };
    });
  };
  const install = async (name = 'blue'): Promise<void> => {
    fixture.cluster.put('injectorconfigs', injectorConfig(name));
    await fixture.reconcile(name);
  };

  it('produces everything, the webhook last, and says so once', async () => {
    await fixture.start();
    await install();
    assert.deepEqual(fixture.cluster.writes, [
      'PATCH injectorconfigs blue',
      'POST secrets sidecar-injector-blue',
      'PATCH secrets sidecar-injector-blue-serving',
      'PATCH services sidecar-injector-blue',
      `PATCH configmaps sidecar-injector-blue-${hash('blue')}`,
      'PATCH configmaps sidecar-injector-blue',
      'PATCH mutatingwebhookconfigurations sidecar-injector-blue',
      'PATCH injectorconfigs/status blue',
    ]);
    const stored = fixture.cluster.get('injectorconfigs', 'blue')!;
    const { status } = stored as unknown as { status: Record<string, unknown> };
    assert.deepEqual(stored.metadata.finalizers, ['sidecar-injector.io/cleanup']);
    assert.equal(status.observedGeneration, 1);
    assert.equal(status.revision, 'blue');
    assert.deepEqual(status.config, { hash: hash('blue') });
    assert.equal(
      fixture.condition('blue', 'Ready'),
      'True/Serving: the leader serves the published configuration; other replicas load it within moments and answer 503 until then',
    );
    assert.equal(
      fixture.condition('blue', 'TemplatesValid'),
      `True/Compiled: 1 template compiles; the configuration is ${hash('blue')}`,
    );
    assert.equal(
      fixture.condition('blue', 'WebhookReady'),
      `True/Published: the webhook names configuration ${hash('blue')}`,
    );
    assert.equal(fixture.condition('blue', 'Overlap'), 'none');
    assert.equal(fixture.condition('blue', 'Conflict'), 'none');
    await recorded(/^Published: configuration [0-9a-f]{8} is published$/);
  });

  it('publishes a caBundle that verifies what the serving Secret holds', async () => {
    await fixture.start();
    await install();
    const bundle = new X509Certificate(Buffer.from(webhooks('blue')[0]!.clientConfig.caBundle, 'base64'));
    const { data } = fixture.cluster.get('secrets', 'sidecar-injector-blue-serving', 'injection') as unknown as {
      data: Record<string, string>;
    };
    const leaf = new X509Certificate(Buffer.from(data['tls.crt']!, 'base64'));
    assert.ok(isIssuedBy(leaf, bundle));
    assert.match(leaf.subjectAltName ?? '', /sidecar-injector-blue\.injection\.svc/);
  });

  it('writes nothing when nothing has changed, also after a restart', async () => {
    await fixture.start();
    await install();
    fixture.cluster.writes.length = 0;
    const wait = await fixture.reconcile('blue');
    assert.equal(wait, 600_000);
    fixture.restart();
    await fixture.until(() => fixture.view.hasSynced);
    await fixture.reconcile('blue');
    assert.deepEqual(fixture.cluster.writes, []);
  });

  it('keeps the last good configuration when a template does not compile, with line and column, and takes the next good one', async () => {
    await fixture.start();
    await install();
    const good = hash('blue');
    setTemplate('blue', 'spec:\n  x: {{ .Broken');
    await fixture.reconcile('blue');
    assert.equal(hash('blue'), good);
    assert.match(
      fixture.condition('blue', 'TemplatesValid'),
      /^False\/ConfigurationInvalid: .*templates\.sidecar.* line 2/s,
    );
    assert.match(fixture.condition('blue', 'Ready'), /^False\/ConfigurationInvalid/);
    assert.match(fixture.condition('blue', 'WebhookReady'), new RegExp(`^True/Published: .*${good}`));
    const { status } = fixture.cluster.get('injectorconfigs', 'blue') as unknown as {
      status: { observedGeneration: number; config: object };
    };
    assert.equal(status.observedGeneration, 2);
    assert.deepEqual(status.config, { hash: good });
    await fixture.reconcile('blue');
    await recorded(/^ConfigurationInvalid/);
    assert.equal(fixture.events().filter((event) => event.startsWith('ConfigurationInvalid')).length, 1);
    setTemplate('blue', template('two'));
    await fixture.reconcile('blue');
    assert.notEqual(hash('blue'), good);
    assert.match(fixture.condition('blue', 'Ready'), /^True/);
  });

  it('repairs the webhook and the ConfigMaps of the last good configuration while the spec is broken', async () => {
    await fixture.start();
    await install();
    const good = hash('blue');
    setTemplate('blue', '{{');
    await fixture.reconcile('blue');
    fixture.cluster.remove('configmaps', `sidecar-injector-blue-${good}`, 'injection');
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(hash('blue'), good);
    assert.ok(fixture.cluster.get('configmaps', `sidecar-injector-blue-${good}`, 'injection'));
  });

  it('publishes nothing of a configuration that has never compiled', async () => {
    await fixture.start();
    fixture.cluster.put(
      'injectorconfigs',
      injectorConfig('blue', { injection: { templates: { sidecar: '{{ nope }}' } } }),
    );
    await fixture.reconcile('blue');
    assert.equal(path('blue'), undefined);
    assert.deepEqual(fixture.cluster.names('configmaps'), []);
    assert.match(fixture.condition('blue', 'WebhookReady'), /^False\/NothingToPublish/);
    assert.match(fixture.condition('blue', 'Ready'), /^False\/ConfigurationInvalid/);
  });

  it('moves the webhook only when every replica holds the configuration', async () => {
    await fixture.start();
    fixture.reports.missing = ['replica-2'];
    await install();
    assert.equal(path('blue'), undefined);
    assert.match(
      fixture.condition('blue', 'WebhookReady'),
      /^False\/WaitingForReplicas: configuration [0-9a-f]{8} is not served yet by replica-2/,
    );
    fixture.reports.missing = [];
    assert.equal(await fixture.reconcile('blue'), 600_000);
    const first = hash('blue');
    fixture.reports.missing = ['replica-1', 'replica-2'];
    setTemplate('blue', template('two'));
    assert.equal(await fixture.reconcile('blue'), 1000);
    assert.equal(hash('blue'), first);
    assert.match(fixture.condition('blue', 'Ready'), /^False\/WaitingForReplicas/);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(path('blue'), undefined, 'with nothing published, nothing may be that replicas cannot answer');
    fixture.reports.missing = [];
    await fixture.reconcile('blue');
    assert.notEqual(hash('blue'), first);
  });

  it('does not forget what it had published when nothing is left of it but the status', async () => {
    await fixture.start();
    await install();
    const good = hash('blue');
    setTemplate('blue', '{{');
    fixture.reports.missing = ['replica-1'];
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(path('blue'), undefined);
    fixture.reports.missing = [];
    await fixture.reconcile('blue');
    assert.equal(hash('blue'), good);
  });

  it('finds what is published when its status is lost', async () => {
    await fixture.start();
    await install();
    const good = hash('blue');
    setTemplate('blue', '{{');
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      delete object.status;
    });
    await fixture.reconcile('blue');
    assert.equal(hash('blue'), good);
    assert.deepEqual((fixture.cluster.get('injectorconfigs', 'blue')?.status as { config: object }).config, {
      hash: good,
    });
  });

  for (const [what, isRestarted] of [
    ['a status that names a configuration nobody holds', false],
    ['such a status after a restart', true],
  ] as const) {
    it(`leaves the webhook where it is for ${what}`, async () => {
      await fixture.start();
      await install();
      const good = hash('blue');
      setTemplate('blue', '{{');
      fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
        object.status = { ...(object.status as object), config: { hash: 'deadbeef' } };
      });
      if (isRestarted) fixture.restart();
      await fixture.until(() => fixture.view.hasSynced);
      await fixture.reconcile('blue');
      assert.equal(hash('blue'), good);
      assert.match(fixture.condition('blue', 'WebhookReady'), new RegExp(`^True/Published: .*${good}`));
      const { status } = fixture.cluster.get('injectorconfigs', 'blue') as unknown as { status: { config: object } };
      assert.deepEqual(status.config, { hash: good });
    });
  }

  it('says that what is published is lost, leaves the webhook there, and publishes what compiles next', async () => {
    await fixture.start();
    await install();
    const good = hash('blue');
    setTemplate('blue', '{{');
    fixture.cluster.remove('configmaps', `sidecar-injector-blue-${good}`, 'injection');
    fixture.cluster.remove('configmaps', 'sidecar-injector-blue', 'injection');
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.status = { ...(object.status as object), config: { hash: 'deadbeef' } };
    });
    fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      (object.webhooks as Webhook[])[0]!.clientConfig.caBundle = '';
    });
    fixture.reports.missing = ['replica-1'];
    // The names of Events hold the time.
    await fixture.clock.advance(1);
    fixture.restart();
    await fixture.until(() => fixture.view.hasSynced);
    await fixture.reconcile('blue');
    assert.equal(hash('blue'), good);
    assert.notEqual(webhooks('blue')[0]!.clientConfig.caBundle, '');
    assert.match(
      fixture.condition('blue', 'WebhookReady'),
      new RegExp(`^False/ConfigurationLost: .*sidecar-injector-blue-${good} .*replica-1; correct`),
    );
    await recorded(/^ConfigurationLost: configuration [0-9a-f]{8}, which is published, is lost/);
    setTemplate('blue', template('two'));
    fixture.reports.missing = [];
    await fixture.reconcile('blue');
    assert.notEqual(hash('blue'), good);
    assert.match(fixture.condition('blue', 'WebhookReady'), /^True/);
  });

  it('repairs what is there while replicas are waited for', async () => {
    await fixture.start();
    await install();
    const first = hash('blue');
    fixture.reports.missing = ['replica-1'];
    setTemplate('blue', template('two'));
    await fixture.reconcile('blue');
    fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      (object.webhooks as Webhook[])[0]!.failurePolicy = 'Ignore';
    });
    await fixture.reconcile('blue');
    assert.equal(webhooks('blue')[0]!.failurePolicy, 'Fail');
    assert.equal(hash('blue'), first);
  });

  it('restores the ConfigMap of what is published while replicas load the next one', async () => {
    await fixture.start();
    await install();
    const first = hash('blue');
    fixture.reports.missing = ['replica-1'];
    setTemplate('blue', template('two'));
    await fixture.reconcile('blue');
    fixture.cluster.remove('configmaps', `sidecar-injector-blue-${first}`, 'injection');
    await fixture.reconcile('blue');
    assert.ok(fixture.cluster.get('configmaps', `sidecar-injector-blue-${first}`, 'injection'));
    assert.equal(hash('blue'), first);
  });

  it('keeps the last three configurations, and what is in use, and editing back finds the old one', async () => {
    await fixture.start();
    await install();
    const first = hash('blue');
    for (const image of ['two', 'three', 'four']) {
      setTemplate('blue', template(image));
      await fixture.reconcile('blue');
    }
    const hashed = (): string[] => fixture.cluster.names('configmaps').filter((name) => /-[0-9a-f]{8}$/.test(name));
    assert.equal(hashed().length, 3);
    assert.ok(!hashed().includes(`sidecar-injector-blue-${first}`));
    setTemplate('blue', template('two'));
    fixture.cluster.writes.length = 0;
    await fixture.reconcile('blue');
    assert.ok(!fixture.cluster.writes.some((write) => write.includes(`configmaps sidecar-injector-blue-`)));
    assert.equal(hashed().length, 3);
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
      await fixture.start();
      await install();
      const namespace = namespaced ? 'injection' : undefined;
      const before = fixture.cluster.get(plural, name, namespace)!;
      fixture.cluster.remove(plural, name, namespace);
      await fixture.reconcile('blue');
      const restored = fixture.cluster.get(plural, name, namespace)!;
      assert.deepEqual({ ...restored, metadata: {} }, { ...before, metadata: {} });
      assert.deepEqual(restored.metadata.labels, before.metadata.labels);
      await recorded(event);
    });
  }

  it('keeps trust in the served leaf when the Secret of the rotation is deleted', async () => {
    await fixture.start();
    await install();
    const serving = fixture.cluster.get('secrets', 'sidecar-injector-blue-serving', 'injection')!.data;
    const [before] = webhooks('blue');
    fixture.cluster.remove('secrets', 'sidecar-injector-blue', 'injection');
    await fixture.reconcile('blue');
    const bundle = Buffer.from(webhooks('blue')[0]!.clientConfig.caBundle, 'base64').toString();
    assert.ok(bundle.includes(Buffer.from(before!.clientConfig.caBundle, 'base64').toString().trim()));
    const kept = fixture.cluster.get('secrets', 'sidecar-injector-blue-serving', 'injection')!.data as Record<
      string,
      string
    >;
    assert.equal(kept['tls.crt'], (serving as Record<string, string>)['tls.crt']);
  });

  it('does not make new keys when the Secret of the rotation only lost its labels', async () => {
    await fixture.start();
    await install();
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
    await fixture.start();
    await install();
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
    assert.notEqual(webhooks('blue')[0]!.clientConfig.caBundle, '');
    await fixture.clock.advance(60_000);
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'Conflict'), /^False\/NoConflict/);
  });

  it('removes the webhook first, what answers it 2 s later, and then lets the object go', async () => {
    await fixture.start();
    await install();
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
    await fixture.start();
    await install();
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

  it('lets the older of two win; the loser publishes nothing, names the winner, and comes when that is gone', async () => {
    await fixture.start();
    await install('old');
    fixture.cluster.put('injectorconfigs', injectorConfig('young', { revision: 'old' }));
    await fixture.reconcile('young');
    assert.equal(path('young'), undefined);
    assert.deepEqual(
      fixture.cluster.names('secrets').filter((name) => name.includes('young')),
      [],
    );
    const message = 'InjectorConfig old is older and takes the same pods; nothing of this one is published';
    assert.equal(fixture.condition('young', 'Overlap'), `True/Overlap: ${message}`);
    assert.equal(fixture.condition('young', 'Ready'), `False/Overlap: ${message}`);
    assert.match(fixture.condition('old', 'Ready'), /^True/);
    fixture.cluster.remove('injectorconfigs', 'old');
    await fixture.reconcile('young');
    assert.match(fixture.condition('young', 'Ready'), /^True/);
    assert.match(fixture.condition('young', 'Overlap'), /^False/);
  });

  it('advises names of its own to one whose selectors could take the pods of another', async () => {
    await fixture.start();
    await install('old');
    const webhook = { selection: 'Custom', namespaceSelector: { matchLabels: { team: 'a' } } };
    fixture.cluster.put('injectorconfigs', injectorConfig('young', { webhook }));
    await fixture.reconcile('young');
    assert.equal(path('young'), undefined);
    assert.match(
      fixture.condition('young', 'Ready'),
      /^False\/Overlap: .* give one of the two its own spec\.webhook\.keys/,
    );
  });

  it('says which ConfigMap, namespace and key a reference lacks, and follows it', async () => {
    await fixture.start();
    const valuesFrom = { namespace: 'config', name: 'values', key: 'values.yaml' };
    const injection = { templates: { sidecar: template('{{ .Values.image }}') }, valuesFrom };
    fixture.cluster.put('injectorconfigs', injectorConfig('blue', { injection }));
    await fixture.reconcile('blue');
    assert.equal(
      fixture.condition('blue', 'TemplatesValid'),
      'False/ReferenceInvalid: InjectorConfig blue (revision blue): spec.injection.valuesFrom: could not read valid configmap "values" from namespace "config" (key "values.yaml"): it does not exist; create it or correct the reference',
    );
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'values', namespace: 'config' } };
    fixture.cluster.put('configmaps', { ...configMap, data: { other: '{}' } });
    await fixture.until(() => fixture.referenceChanges.length === 1);
    await fixture.reconcile('blue');
    assert.match(
      fixture.condition('blue', 'TemplatesValid'),
      /missing configuration map key "values\.yaml" in configmap "values" of namespace "config": it has other; add it/,
    );
    fixture.cluster.edit('configmaps', 'values', 'config', (object) => {
      object.data = { 'values.yaml': 'image: x' };
    });
    await fixture.until(() => fixture.referenceChanges.length === 2);
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'Ready'), /^True/);
    const first = hash('blue');
    fixture.cluster.edit('configmaps', 'values', 'config', (object) => {
      object.data = { 'values.yaml': 'image: y' };
    });
    await fixture.until(() => fixture.referenceChanges.length === 3);
    await fixture.reconcile('blue');
    assert.notEqual(hash('blue'), first);
  });

  it('publishes nothing while the owner it was given does not exist, and then under that owner', async () => {
    await fixture.start({ owner: 'injector' });
    await install();
    assert.equal(path('blue'), undefined);
    assert.match(fixture.condition('blue', 'Ready'), /^False\/OwnerMissing/);
    fixture.cluster.put('mutatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'injector', uid: 'owner-uid' },
    });
    await fixture.reconcile('blue');
    const { ownerReferences } = fixture.cluster.get('mutatingwebhookconfigurations', 'sidecar-injector-blue')!.metadata;
    assert.deepEqual(ownerReferences, [
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        name: 'injector',
        uid: 'owner-uid',
      },
    ]);
  });

  it('leaves the InjectorConfigs of other operator classes alone', async () => {
    await fixture.start();
    fixture.cluster.put('injectorconfigs', injectorConfig('blue', { operatorClass: 'other' }));
    await fixture.reconcile('blue');
    assert.deepEqual(fixture.cluster.writes, []);
  });

  it('writes nothing where another installation of its class has published, also on removal, until that is gone', async () => {
    await fixture.start();
    const elsewhere = { service: { namespace: 'elsewhere', name: 'sidecar-injector-blue' } };
    fixture.cluster.put('mutatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: {
        name: 'sidecar-injector-blue',
        labels: {
          'app.kubernetes.io/managed-by': 'sidecar-injector',
          'sidecar-injector.io/operator-class': 'default',
          'sidecar-injector.io/injector-config': 'blue',
        },
      },
      webhooks: [{ name: 'rev.sidecar-injector.io', clientConfig: elsewhere }],
    });
    await install();
    await recorded(
      /^OtherInstallation: .* leads to namespace elsewhere, .* the one in namespace injection writes nothing/,
    );
    const notEvents = (): string[] => fixture.cluster.writes.filter((write) => !write.includes(' events'));
    assert.deepEqual(notEvents(), []);
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.metadata.finalizers = ['sidecar-injector.io/cleanup'];
    });
    fixture.cluster.remove('injectorconfigs', 'blue');
    await fixture.reconcile('blue');
    assert.deepEqual(notEvents(), []);
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      delete object.metadata.deletionTimestamp;
    });
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'Ready'), /^True/);
  });

  it('takes a webhook back that somebody led to another namespace', async () => {
    await fixture.start();
    await install();
    fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      for (const { clientConfig } of object.webhooks as Webhook[]) {
        Object.assign(clientConfig.service, { namespace: 'elsewhere' });
      }
    });
    await fixture.reconcile('blue');
    assert.ok(
      webhooks('blue').every(
        ({ clientConfig }) => 'namespace' in clientConfig.service && clientConfig.service.namespace === 'injection',
      ),
    );
  });

  it('says what is wrong with an object that it cannot read at all', async () => {
    await fixture.start();
    fixture.cluster.put('injectorconfigs', injectorConfig('blue', { webhook: { timeoutSeconds: 99 } }));
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'Ready'), /^False\/Invalid: .*spec\.webhook\.timeoutSeconds.*99/);
    assert.deepEqual(fixture.cluster.writes, ['PATCH injectorconfigs/status blue']);
    const stored = fixture.cluster.get('injectorconfigs', 'blue') as unknown as { status: object };
    assert.deepEqual(stored.status, { ...stored.status, observedGeneration: 1 });
  });

  it('keeps the webhook as it is, but for its caBundle, when the spec of the webhook is wrong', async () => {
    await fixture.start();
    await install();
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
    assert.equal(webhooks('blue').length, 2);
    assert.ok(webhooks('blue').every(({ clientConfig }) => clientConfig.caBundle !== ''));
  });

  it('repairs the caBundle of the webhook there is while the API server refuses the one that is wanted', async () => {
    await fixture.start();
    await install();
    const { length } = webhooks('blue');
    const good = hash('blue');
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
        webhooks('blue').every(({ clientConfig }) => clientConfig.caBundle !== ''),
        damage,
      );
      assert.equal(fixture.condition('blue', 'WebhookReady'), `False/Invalid: ${message}; the webhook stays as it was`);
      assert.equal(await fixture.reconcile('blue'), 600_000);
    }
    assert.equal(hash('blue'), good);
    assert.equal(webhooks('blue').length, length);
    assert.equal(fixture.events().filter((event) => event.startsWith('Invalid: webhooks[0]')).length, 1);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'WebhookReady'), /^False\/Invalid: .*; there is no webhook yet/);
    setConditions([]);
    await fixture.reconcile('blue');
    assert.match(fixture.condition('blue', 'WebhookReady'), /^True\/Published/);
    assert.notEqual(hash('blue'), good);
  });

  it('says that a certificate policy cannot work, and goes on serving', async () => {
    await fixture.start();
    await install();
    const before = hash('blue');
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.spec = { ...(object.spec as object), certificate: { leafDuration: '48h', caDuration: '24h' } };
    });
    await fixture.reconcile('blue');
    assert.match(
      fixture.condition('blue', 'CertificateReady'),
      /^False\/InvalidPolicy: spec\.certificate: leafDuration/,
    );
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(hash('blue'), before);
  });

  it('shows a missing right in the condition of what it could not do, and rejects', async () => {
    await fixture.start();
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    fixture.cluster.faults.push({
      matches: (method, requested) => method === 'PATCH' && requested.includes('mutatingwebhook'),
      answer: (response) => {
        failure(response, 403, 'Forbidden', 'mutatingwebhookconfigurations is forbidden');
      },
    });
    await assert.rejects(fixture.reconcile('blue'), /is forbidden/);
    assert.equal(
      fixture.condition('blue', 'WebhookReady'),
      'False/Forbidden: mutatingwebhookconfigurations is forbidden',
    );
    fixture.cluster.faults.length = 0;
    fixture.cluster.faults.push({
      matches: (method) => method === 'POST',
      answer: (response) => {
        failure(response, 403, 'Forbidden', 'secrets is forbidden');
      },
    });
    fixture.cluster.put('injectorconfigs', injectorConfig('green'));
    await assert.rejects(fixture.reconcile('green'), /secrets is forbidden/);
    assert.match(fixture.condition('green', 'CertificateReady'), /^False\/Forbidden/);
    assert.match(fixture.condition('green', 'Ready'), /^Unknown|^False/);
  });

  it('writes nothing onto a version of the rotation that it has not seen', async () => {
    await fixture.start();
    await install();
    fixture.cluster.edit('secrets', 'sidecar-injector-blue', 'injection', (object) => {
      delete (object.data as Record<string, string>)['rotation.json'];
    });
    await fixture.caughtUp();
    // From here on the view sees nothing.
    fixture.cluster.faults.push({ matches: (method) => method === 'GET', answer: () => undefined });
    fixture.cluster.dropWatches();
    fixture.cluster.edit('secrets', 'sidecar-injector-blue', 'injection', (object) => {
      object.metadata.annotations = { another: 'leader' };
    });
    await assert.rejects(fixture.reconcilers.revisions.reconcile('blue', new AbortController().signal), /modified/);
    assert.match(fixture.condition('blue', 'CertificateReady'), /^True/);
    fixture.cluster.faults.length = 0;
  });
});
