import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import type { CertifiedKey } from '../../certs/key-pair.ts';
import { seededBytes } from '../../certs/testdata/key-pool.ts';
import { eachTest, nextKeyPair } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';
import { secretText } from './secret-text.ts';

const hour = 3_600_000;
const requests = 'certificatesigningrequests';
const certificate = {
  provider: 'CertificateSigningRequest',
  signerName: 'example.com/serving',
  caBundleFrom: { name: 'roots' },
};

/** A fixture that simulates a signer. */
class SignerFixture extends RevisionFixture {
  readonly #random = seededBytes(7);
  authority!: CertifiedKey;

  override async start(): Promise<void> {
    await super.start({ certificateSigningRequests: true });
    this.authority = await this.#root();
    this.trust(this.authority.certificatePem);
  }

  async #root(): Promise<CertifiedKey> {
    const options = { now: this.clock.now(), random: this.#random, duration: 1000 * hour };
    return issueAuthority('signer', await nextKeyPair(), options);
  }

  trust(pem: string): void {
    const metadata = { name: 'roots', namespace: 'injection' };
    this.cluster.put('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': pem } });
  }

  request(): KubernetesObject {
    const names = this.cluster.names(requests);
    assert.equal(names.length, 1, names.join());
    return this.cluster.get(requests, names[0] ?? '')!;
  }

  answer(status: Record<string, unknown>): void {
    this.cluster.edit(requests, this.request().metadata.name ?? '', undefined, (object) => (object.status = status));
  }

  /** Signs the pending key, or another key as a broken signer does. */
  sign(duration = 240 * hour, key = this.kept()['pending.key'] ?? ''): string {
    const publicKeyPem = createPublicKey(key).export({ type: 'spki', format: 'pem' }) as string;
    const privateKeyPem = key;
    const names = { service: 'sidecar-injector-blue', namespace: 'injection' };
    const options = { now: this.clock.now(), random: this.#random, duration };
    const { certificatePem } = issueServingCertificate(this.authority, names, { privateKeyPem, publicKeyPem }, options);
    this.answer({ certificate: Buffer.from(certificatePem).toString('base64') });
    return certificatePem;
  }

  kept(): Record<string, string> {
    return secretText(this.cluster.get('secrets', 'injector-request-blue', 'injection') ?? ({} as KubernetesObject));
  }

  /** Reconciles after the watches have delivered the request and the ConfigMap. */
  async passes(): Promise<void> {
    await this.watched();
    await this.reconcile('blue');
  }
}

describe('createSigningRequestProvider', () => {
  const fixture = eachTest(new SignerFixture());
  const says = (expected: RegExp): void => {
    fixture.says('blue', 'CertificateReady', expected);
  };

  it('stores the key before the request, says how to approve it, and serves the signed certificate', async () => {
    await fixture.install('blue', { certificate });
    const { spec, metadata } = fixture.request();
    const written = fixture.cluster.writes.filter((each) =>
      /injector-request-blue|certificatesigningrequests/.test(each),
    );
    assert.deepEqual(written, ['POST secrets injector-request-blue', `POST ${requests} ${metadata.name ?? ''}`]);
    assert.deepEqual((spec as { usages: string[] }).usages, ['digital signature', 'key encipherment', 'server auth']);
    says(
      new RegExp(
        `^False/RequestPending: .*\`kubectl certificate approve ${metadata.name ?? ''}\`.*no certificate is served$`,
      ),
    );
    assert.equal(fixture.path('blue'), undefined);
    fixture.answer({ conditions: [{ type: 'Approved', status: 'True' }] });
    await fixture.passes();
    says(/^False\/RequestPending: .* is approved and waits for signer example\.com\/serving/);
    const signed = fixture.sign();
    await fixture.passes();
    assert.equal(fixture.secret('blue-serving')['tls.crt'], signed);
    says(/^True\/Stable: /);
    assert.deepEqual(Object.keys(fixture.kept()).sort(), ['request.json', 'tls.crt', 'tls.key']);
    assert.doesNotMatch(JSON.stringify([fixture.events(), fixture.statusOf('blue')]), /PRIVATE/);
  });

  it('continues with the same request after the leader changes', async () => {
    const isRequest = (method: string, path: string): boolean => method === 'POST' && path.includes(requests);
    fixture.cluster.fail(isRequest, 500, 'InternalError', 'away', 1);
    await fixture.install('blue', { certificate });
    says(/^False\/InternalError: spec\.certificate: away/);
    const { 'pending.key': key } = fixture.kept();
    fixture.restart({ certificateSigningRequests: true });
    await fixture.passes();
    const { name } = fixture.request().metadata;
    fixture.restart({ certificateSigningRequests: true });
    await fixture.passes();
    assert.equal(fixture.request().metadata.name, name);
    assert.equal(fixture.kept()['pending.key'], key);
  });

  it('creates a request with another key after a denial, and deletes the denied request', async () => {
    await fixture.install('blue', { certificate });
    await fixture.passes();
    const { name } = fixture.request().metadata;
    fixture.answer({ conditions: [{ type: 'Denied', status: 'True', reason: 'No', message: 'not you' }] });
    await fixture.passes();
    says(
      /^False\/RequestDenied: .* was denied \(No: not you\); the operator creates another one at 2026-06-01T00:00:10/,
    );
    await fixture.later(10_000, 'blue');
    assert.notEqual(fixture.request().metadata.name, name);
  });

  const approved = { type: 'Approved', status: 'True' };
  const failed = { type: 'Failed', status: 'True', reason: 'No', message: 'not today' };
  const badAnswers: [what: string, answer: () => unknown, expected: RegExp][] = [
    [
      'the signer refuses the request',
      () => fixture.answer({ conditions: [approved, failed] }),
      /^False\/RequestFailed: .* signer example\.com\/serving refused .* \(No: not today\); the operator creates another/,
    ],
    [
      'the signer signs another key',
      async () => fixture.sign(hour, (await nextKeyPair()).privateKeyPem),
      /^False\/KeyMismatch: .* the certificate that signer .* issued for .*, is still served$/,
    ],
    [
      'the signer does not answer',
      () => fixture.answer({ conditions: [approved] }),
      /^False\/RequestPending: .* is approved and waits for signer example\.com\/serving/,
    ],
    [
      'the request is removed',
      () => fixture.cluster.remove(requests, fixture.request().metadata.name ?? ''),
      /^False\/RequestRemoved: .* was removed before it was signed; the operator creates another one at/,
    ],
  ];
  for (const [what, answer, expected] of badAnswers) {
    it(`reports that ${what}, serves the old certificate meanwhile, and takes the next answer`, async () => {
      await fixture.install('blue', { certificate });
      const old = fixture.sign();
      await fixture.passes();
      // The runbook says to delete this Secret for a new request.
      fixture.cluster.remove(requests, fixture.request().metadata.name ?? '');
      fixture.cluster.remove('secrets', 'injector-request-blue', 'injection');
      await fixture.passes();
      await fixture.passes();
      await answer();
      await fixture.passes();
      says(expected);
      assert.equal(fixture.secret('blue-serving')['tls.crt'], old);
      await fixture.clock.advance(10_000);
      await fixture.passes();
      const next = fixture.sign();
      await fixture.passes();
      assert.equal(fixture.secret('blue-serving')['tls.crt'], next);
      says(/^True\/Stable: /);
    });
  }

  it('publishes nothing until an authority is trusted, and serves the old certificate until the next is signed', async () => {
    fixture.trust('nothing');
    await fixture.install('blue', { certificate });
    says(
      /^False\/TrustMissing: spec\.certificate\.caBundleFrom: ConfigMap injection\/roots, key ca\.crt: no certificate in PEM/,
    );
    fixture.trust(fixture.authority.certificatePem);
    await fixture.passes();
    const signed = fixture.sign(30 * hour);
    await fixture.passes();
    fixture.clock.sleep(21 * hour);
    await fixture.reconcile('blue');
    says(/^True\/RenewalPending: .* waits for its approval: /);
    assert.equal(fixture.secret('blue-serving')['tls.crt'], signed);
  });

  it('deletes its objects when the provider changes and when the InjectorConfig is deleted', async () => {
    await fixture.install('blue', { certificate });
    await fixture.edit('blue', { certificate: {} });
    assert.deepEqual([fixture.cluster.names(requests), fixture.kept()], [[], {}]);
    await fixture.edit('blue', { certificate });
    assert.equal(fixture.cluster.names(requests).length, 1);
    fixture.cluster.remove('injectorconfigs', 'blue');
    for (let pass = 0; pass < 5; pass++) await fixture.later(2000, 'blue');
    assert.deepEqual([fixture.cluster.names(requests), fixture.kept()], [[], {}]);
  });

  it('keeps serving while the API server answers with errors', async () => {
    await fixture.install('blue', { certificate });
    const signed = fixture.sign();
    await fixture.passes();
    const fails = (what: RegExp, code: number): void => {
      fixture.cluster.fail((method, path) => what.test(`${method} ${path}`), code, 'Broken', 'it is broken');
    };
    // The next request cannot be stored, but the current certificate is still served.
    fails(/^PUT .*injector-request-blue/, 500);
    await fixture.edit('blue', { certificate: { ...certificate, expirationSeconds: 700 } });
    says(/^True\/Broken: .*; spec\.certificate: it is broken$/);
    assert.equal(fixture.secret('blue-serving')['tls.crt'], signed);
    fixture.cluster.faults.length = 0;
    // The operator is not allowed to list leftover requests, but provider SelfSigned serves anyway.
    fails(/certificatesigningrequests/, 403);
    await fixture.edit('blue', { certificate: {} });
    for (let pass = 0; pass < 3; pass++) await fixture.later(60_000, 'blue');
    says(/^True\/(Stable|Retiring): /);
    assert.notEqual(fixture.secret('blue-serving')['tls.crt'], signed);
    fixture.emptyBundles('blue');
    await fixture.reconcile('blue');
    assert.notEqual(fixture.webhooks('blue')[0]?.clientConfig.caBundle, '');
  });

  it('says how to request another certificate, and reports when the provider is disabled', async () => {
    await fixture.install('blue', { certificate });
    fixture.annotate('blue', { [rotateAnnotation]: 'leaf:n' });
    await fixture.reconcile('blue');
    const { rotateRequest } = fixture.statusOf('blue').certificate as { rotateRequest: Record<string, string> };
    assert.match(rotateRequest.message ?? '', /kubectl delete secret -n injection injector-request-blue$/);
    fixture.restart();
    await fixture.passes();
    says(/^False\/ProviderDisabled: .*operator\.certificateSigningRequests \(flag --certificate-signing-requests\)/);
  });
});
