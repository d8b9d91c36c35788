import assert from 'node:assert/strict';
import { eachTest, injectorConfig } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const webhookType = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' };

describe('RevisionReconciler with other injectors', () => {
  const fixture = eachTest(new RevisionFixture());

  it('publishes only the older of two overlapping InjectorConfigs, and the younger once the older is deleted', async () => {
    await fixture.install('old');
    fixture.cluster.put('injectorconfigs', injectorConfig('young', { revision: 'old' }));
    await fixture.reconcile('young');
    assert.equal(fixture.path('young'), undefined);
    assert.deepEqual(
      fixture.cluster.names('secrets').filter((name) => name.includes('young')),
      [],
    );
    const message = 'InjectorConfig old is older and selects the same pods, so this InjectorConfig publishes nothing';
    assert.equal(fixture.condition('young', 'Overlap'), `True/Overlap: ${message}`);
    assert.equal(fixture.condition('young', 'Ready'), `False/Overlap: ${message}`);
    fixture.says('old', 'Ready', /^True/);
    fixture.cluster.remove('injectorconfigs', 'old');
    await fixture.reconcile('young');
    fixture.says('young', 'Ready', /^True/);
    fixture.says('young', 'Overlap', /^False/);
  });

  it('advises separate webhook keys when custom selectors may overlap', async () => {
    await fixture.install('old');
    const webhook = { selection: 'Custom', namespaceSelector: { matchLabels: { team: 'a' } } };
    fixture.cluster.put('injectorconfigs', injectorConfig('young', { webhook }));
    await fixture.reconcile('young');
    assert.equal(fixture.path('young'), undefined);
    fixture.says('young', 'Ready', /^False\/Overlap: .* give one of the two separate spec\.webhook\.keys/);
  });

  it('publishes once the configured owner exists, with an owner reference', async () => {
    fixture.restart({ owner: 'injector' });
    await fixture.install();
    assert.equal(fixture.path('blue'), undefined);
    fixture.says('blue', 'Ready', /^False\/OwnerMissing/);
    const owner = { name: 'injector', uid: 'owner-uid' };
    fixture.cluster.put('mutatingwebhookconfigurations', { ...webhookType, metadata: { ...owner } });
    await fixture.reconcile('blue');
    const { ownerReferences } = fixture.cluster.get('mutatingwebhookconfigurations', 'sidecar-injector-blue')!.metadata;
    assert.deepEqual(ownerReferences, [{ ...webhookType, ...owner }]);
  });

  it('writes and deletes nothing while another installation of its operator class owns the webhook', async () => {
    const elsewhere = { service: { namespace: 'elsewhere', name: 'sidecar-injector-blue' } };
    fixture.cluster.put('mutatingwebhookconfigurations', {
      ...webhookType,
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
    await fixture.install();
    await fixture.recorded(
      /^OtherInstallation: .* calls a Service in namespace elsewhere, .* the operator in namespace injection writes nothing/,
    );
    const notEvents = (): string[] => fixture.cluster.writes.filter((write) => !write.includes(' events'));
    assert.deepEqual(notEvents(), []);
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      object.metadata.finalizers = ['sidecar-injector.io/cleanup'];
    });
    await fixture.uninstall('blue');
    assert.deepEqual(notEvents(), []);
    fixture.cluster.edit('injectorconfigs', 'blue', undefined, (object) => {
      delete object.metadata.deletionTimestamp;
    });
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.reconcile('blue');
    fixture.says('blue', 'Ready', /^True/);
  });
});
