import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { seededBytes } from '../../certs/testdata/key-pool.ts';
import { eachTest, nextKeyPair } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const hour = 3_600_000;
const own = 'injector-certificate-blue';
const certificate = { provider: 'CertManager', issuerRef: { name: 'company', kind: 'ClusterIssuer' } };

/** A fixture that simulates cert-manager. */
class CertManagerFixture extends RevisionFixture {
  readonly #random = seededBytes(9);

  override start(): Promise<void> {
    return super.start({ certManager: true });
  }

  /** Writes a Secret as cert-manager does. @returns the certificate in PEM */
  async issue(name = own, service = 'sidecar-injector-blue', withAuthority = true): Promise<string> {
    const options = { now: this.clock.now(), random: this.#random, duration: 240 * hour };
    const authority = issueAuthority('company', await nextKeyPair(), { ...options, duration: 1000 * hour });
    const names = { service, namespace: 'injection' };
    const leaf = issueServingCertificate(authority, names, await nextKeyPair(), options);
    const texts = {
      ...{ 'tls.crt': leaf.certificatePem, 'tls.key': leaf.privateKeyPem },
      ...(withAuthority && { 'ca.crt': authority.certificatePem }),
    };
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    const annotations = { 'cert-manager.io/certificate-name': name };
    this.cluster.put('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'injection', annotations },
      data,
    });
    return leaf.certificatePem;
  }

  certificate(name = own): KubernetesObject | undefined {
    return this.cluster.get('certificates', name, 'injection');
  }

  async passes(): Promise<void> {
    await this.watched();
    await this.reconcile('blue');
  }
}

describe('createCertManagerProvider', () => {
  const fixture = eachTest(new CertManagerFixture());
  const says = (expected: RegExp): void => {
    fixture.says('blue', 'CertificateReady', expected);
  };

  it('maintains a Certificate for the issuer, and serves the Secret that cert-manager writes', async () => {
    await fixture.install('blue', { certificate });
    says(
      /^False\/CertificatePending: .*Certificate injection\/injector-certificate-blue is not issued yet: it has no status/,
    );
    const spec = fixture.certificate()?.spec as Record<string, unknown>;
    assert.deepEqual(spec.dnsNames, ['sidecar-injector-blue.injection.svc']);
    assert.deepEqual(spec.issuerRef, { name: 'company', kind: 'ClusterIssuer', group: 'cert-manager.io' });
    assert.deepEqual([spec.duration, spec.renewBefore], ['168h', '201398s']);
    const status = { conditions: [{ type: 'Issuing', status: 'False', reason: 'Failed', message: 'no such issuer' }] };
    fixture.cluster.edit('certificates', own, 'injection', (object) => (object.status = status));
    await fixture.passes();
    says(/^False\/CertificatePending: .*: Issuing is False \(Failed\): no such issuer;/);
    const issued = await fixture.issue();
    await fixture.passes();
    assert.equal(fixture.secret('blue-serving')['tls.crt'], issued);
    says(/^True\/Stable: /);
    const edited = { ...spec, dnsNames: ['other'] };
    fixture.cluster.edit('certificates', own, 'injection', (object) => (object.spec = edited));
    const renewalTime = new Date(fixture.clock.now().getTime() + 100 * hour).toISOString();
    fixture.cluster.edit('certificates', own, 'injection', (object) => (object.status = { ...status, renewalTime }));
    await fixture.passes();
    assert.deepEqual(fixture.certificate()?.spec, spec);
    says(/^True\/Stable: /);
    fixture.clock.sleep(170 * hour);
    await fixture.reconcile('blue');
    says(/^True\/RenewalDue: .*cert-manager should have renewed Certificate injection\/injector-certificate-blue at /);
  });

  it('reports that cert-manager is missing, retries, and still repairs the webhook', async () => {
    await fixture.install('blue');
    await fixture.issue();
    const isCertificate = (_: string, path: string): boolean => path.includes('/certificates');
    fixture.cluster.fail(isCertificate, 404, 'NotFound', 'the server could not find the requested resource');
    await fixture.edit('blue', { certificate });
    says(/^False\/CertManagerMissing: .*install cert-manager.*; the previous certificate, valid until /);
    fixture.emptyBundles('blue');
    assert.equal(await fixture.reconcile('blue'), 10_000);
    assert.notEqual(fixture.webhooks('blue')[0]?.clientConfig.caBundle, '');
    fixture.cluster.faults.length = 0;
    await fixture.later(10_000, 'blue');
    says(/^(True|False)\/(Publishing|Confirming): /);
  });

  it("watches the user's Certificate, and reports its faults", async () => {
    const certificate = { provider: 'CertManager', certificateRef: { name: 'theirs' } };
    await fixture.install('blue', { certificate });
    says(/^False\/CertificateMissing: spec\.certificate\.certificateRef: Certificate injection\/theirs does not exist/);
    const write = (secretName: string): void => {
      const metadata = { name: 'theirs', namespace: 'injection' };
      fixture.cluster.put('certificates', {
        apiVersion: 'cert-manager.io/v1',
        kind: 'Certificate',
        metadata,
        spec: { secretName },
      });
    };
    write('sidecar-injector-blue-serving');
    await fixture.passes();
    says(/^False\/Invalid: .*writes Secret sidecar-injector-blue-serving, but the operator uses one of these names/);
    write('tls');
    await fixture.issue('tls', 'sidecar-injector-blue', false);
    await fixture.passes();
    says(/^False\/KeyMissing: .*Secret injection\/tls lacks ca\.crt, .*spec\.certificate\.caBundleFrom or caBundle/);
    await fixture.issue('tls', 'another');
    await fixture.passes();
    says(/^False\/NameMissing: /);
    const issued = await fixture.issue('tls');
    await fixture.passes();
    assert.equal(fixture.secret('blue-serving')['tls.crt'], issued);
  });

  it('deletes only its own objects when the provider changes', async () => {
    await fixture.install('blue', { certificate });
    await fixture.issue();
    await fixture.issue('theirs');
    await fixture.passes();
    await fixture.edit('blue', { certificate: {} });
    for (let pass = 0; pass < 3; pass++) await fixture.later(60_000, 'blue');
    assert.equal(fixture.certificate(), undefined);
    const secrets = fixture.cluster.names('secrets');
    assert.deepEqual([secrets.includes(own), secrets.includes('theirs')], [false, true]);
  });
});
