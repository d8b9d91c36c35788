import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { isIssuedBy } from '../../certs/verify-chain.ts';
import { eachTest, injectorConfig, template } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

describe('RevisionReconciler', () => {
  const fixture = eachTest(new RevisionFixture());

  it('writes all objects, the webhook last, and records an Event', async () => {
    await fixture.install();
    assert.deepEqual(fixture.cluster.writes, [
      'PATCH injectorconfigs blue',
      'PATCH roles sidecar-injector-serving',
      'POST secrets sidecar-injector-blue',
      'PATCH secrets sidecar-injector-blue-serving',
      'PATCH services sidecar-injector-blue',
      `PATCH configmaps sidecar-injector-blue-${fixture.hash('blue')}`,
      'PATCH configmaps sidecar-injector-blue',
      'PATCH mutatingwebhookconfigurations sidecar-injector-probe-blue',
      'POST configmaps sidecar-injector-probe-blue',
      'DELETE mutatingwebhookconfigurations sidecar-injector-probe-blue',
      'PATCH mutatingwebhookconfigurations sidecar-injector-blue',
      'PATCH injectorconfigs/status blue',
    ]);
    const stored = fixture.cluster.get('injectorconfigs', 'blue')!;
    assert.deepEqual(stored.metadata.finalizers, ['sidecar-injector.io/cleanup']);
    const { observedGeneration, revision, config } = fixture.statusOf('blue');
    assert.deepEqual([observedGeneration, revision, config], [1, 'blue', { hash: fixture.hash('blue') }]);
    const conditions = {
      Ready: 'True/Serving: every live replica serves the published configuration',
      TemplatesValid: `True/Compiled: 1 template compiles; the configuration is ${fixture.hash('blue')}, with native sidecars Disabled`,
      WebhookReady: `True/Published: the webhook names configuration ${fixture.hash('blue')}`,
      Overlap: 'none',
      Conflict: 'none',
    };
    for (const [type, expected] of Object.entries(conditions)) assert.equal(fixture.condition('blue', type), expected);
    await fixture.recorded(/^Published: configuration [0-9a-f]{8} is published$/);
  });

  it('publishes a caBundle that verifies the certificate in the serving Secret', async () => {
    await fixture.install();
    const bundle = new X509Certificate(Buffer.from(fixture.webhooks('blue')[0]!.clientConfig.caBundle, 'base64'));
    const leaf = new X509Certificate(fixture.secret('blue-serving')['tls.crt']!);
    assert.ok(isIssuedBy(leaf, bundle));
    assert.match(leaf.subjectAltName ?? '', /sidecar-injector-blue\.injection\.svc/);
  });

  it('writes nothing when nothing has changed, even after a restart', async () => {
    await fixture.install();
    fixture.cluster.writes.length = 0;
    const wait = await fixture.reconcile('blue');
    assert.equal(wait, 600_000);
    fixture.restart();
    await fixture.reconcile('blue');
    assert.deepEqual(fixture.cluster.writes, []);
  });

  it('reports how many live replicas serve the published configuration, and keeps the last number while no replica reports', async () => {
    const one = (replica: string, hashes: string[]) => ({ replica, hashes, isDraining: false });
    await fixture.install();
    const config = (): unknown => fixture.statusOf('blue').config;
    const hash = fixture.hash('blue');
    const published = { hash };
    assert.deepEqual(config(), published);
    fixture.reports.live = [one('a', [hash]), one('b', ['00000000', hash]), one('c', [])];
    await fixture.reconcile('blue');
    assert.deepEqual(config(), { ...published, servedBy: 2 });
    fixture.reports.live = [];
    await fixture.reconcile('blue');
    assert.deepEqual(config(), { ...published, servedBy: 2 });
  });

  it('names the ConfigMap, namespace and key of a broken reference, and watches the ConfigMap', async () => {
    const valuesFrom = { namespace: 'config', name: 'values', key: 'values.yaml' };
    const injection = { templates: { sidecar: template('{{ .Values.image }}') }, valuesFrom };
    await fixture.install('blue', { injection });
    assert.equal(
      fixture.condition('blue', 'TemplatesValid'),
      'False/ReferenceInvalid: InjectorConfig blue (revision blue): spec.injection.valuesFrom: could not read valid configmap "values" from namespace "config" (key "values.yaml"): it does not exist; create it or correct the reference',
    );
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'values', namespace: 'config' } };
    fixture.cluster.put('configmaps', { ...configMap, data: { other: '{}' } });
    await fixture.until(() => fixture.referenceChanges.length === 1);
    await fixture.reconcile('blue');
    const missing =
      /missing configuration map key "values\.yaml" in configmap "values" of namespace "config": it has other; add it/;
    fixture.says('blue', 'TemplatesValid', missing);
    const setImage = (image: string): void => {
      fixture.cluster.edit('configmaps', 'values', 'config', (object) => {
        object.data = { 'values.yaml': `image: ${image}` };
      });
    };
    setImage('x');
    await fixture.until(() => fixture.referenceChanges.length === 2);
    await fixture.reconcile('blue');
    fixture.says('blue', 'Ready', /^True/);
    const first = fixture.hash('blue');
    setImage('y');
    await fixture.until(() => fixture.referenceChanges.length === 3);
    await fixture.reconcile('blue');
    assert.notEqual(fixture.hash('blue'), first);
  });

  it('ignores InjectorConfigs of other operator classes', async () => {
    await fixture.install('blue', { operatorClass: 'other' });
    assert.deepEqual(fixture.cluster.writes, []);
  });

  it('reports the error in an object that does not match its schema', async () => {
    await fixture.install('blue', { webhook: { timeoutSeconds: 99 } });
    fixture.says('blue', 'Ready', /^False\/Invalid: .*spec\.webhook\.timeoutSeconds.*99/);
    assert.deepEqual(fixture.cluster.writes, ['PATCH injectorconfigs/status blue']);
    assert.equal(fixture.statusOf('blue').observedGeneration, 1);
  });

  it('reports an invalid certificate policy, and still repairs the webhook', async () => {
    const before = await fixture.installed();
    await fixture.edit('blue', { certificate: { leafDuration: '48h', caDuration: '24h' } });
    fixture.says('blue', 'CertificateReady', /^False\/InvalidPolicy: spec\.certificate: leafDuration/);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    assert.equal(fixture.hash('blue'), before);
  });

  it('reports a missing permission in the condition of the failed step, and rejects', async () => {
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    const message = 'mutatingwebhookconfigurations is forbidden';
    const isOfWebhook = (method: string, requested: string): boolean =>
      method === 'PATCH' && requested.includes('mutatingwebhook');
    fixture.cluster.fail(isOfWebhook, 403, 'Forbidden', message);
    await assert.rejects(fixture.reconcile('blue'), /is forbidden/);
    assert.equal(fixture.condition('blue', 'WebhookReady'), `False/Forbidden: ${message}`);
    fixture.cluster.faults.length = 0;
    fixture.cluster.fail((method) => method === 'POST', 403, 'Forbidden', 'secrets is forbidden');
    fixture.cluster.put('injectorconfigs', injectorConfig('green'));
    await assert.rejects(fixture.reconcile('green'), /secrets is forbidden/);
    fixture.says('green', 'CertificateReady', /^False\/Forbidden/);
    fixture.says('green', 'Ready', /^Unknown|^False/);
  });

  it('does not overwrite a newer state of the rotation', async () => {
    await fixture.install();
    fixture.cluster.edit('secrets', 'sidecar-injector-blue', 'injection', (object) => {
      delete (object.data as Record<string, string>)['rotation.json'];
    });
    await fixture.caughtUp();
    // From here on the view receives no changes.
    fixture.cluster.faults.push({ matches: (method) => method === 'GET', answer: () => undefined });
    fixture.cluster.dropWatches();
    fixture.cluster.edit('secrets', 'sidecar-injector-blue', 'injection', (object) => {
      object.metadata.annotations = { another: 'leader' };
    });
    await assert.rejects(fixture.passNow('blue'), /modified/);
    fixture.says('blue', 'CertificateReady', /^True/);
    fixture.cluster.faults.length = 0;
  });
});
