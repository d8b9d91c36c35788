import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { seededBytes } from '../../certs/testdata/key-pool.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';
import { FollowedObjects } from '../followed-objects.ts';
import { secretProvider } from './certificate-secret-provider.ts';
import { eachTest, nextKeyPair } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const hour = 3_600_000;
const certificate = { provider: 'Secret', secretRef: { name: 'own' } };

/** A fixture that simulates a user with an authority. */
class SecretFixture extends RevisionFixture {
  readonly #random = seededBytes(5);

  async pair(service = 'sidecar-injector-blue', duration = 240 * hour, hosts: string[] = []): Promise<ServingPair> {
    const now = this.clock.now();
    const options = { now, random: this.#random };
    const authority = issueAuthority('own', await nextKeyPair(), { ...options, duration: 1000 * hour });
    const names = { service, namespace: 'injection', hosts };
    const leaf = issueServingCertificate(authority, names, await nextKeyPair(), { ...options, duration });
    return { ...leaf, caPem: authority.certificatePem };
  }

  /** Writes the user's Secret; if the operator watches it, waits until the operator is notified. */
  async give(pair: ServingPair, without?: string): Promise<void> {
    const texts = { 'tls.crt': pair.certificatePem, 'tls.key': pair.privateKeyPem, 'ca.crt': pair.caPem };
    const entries = Object.entries(texts).filter(([key]) => key !== without);
    const data = Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
    const metadata = { name: 'own', namespace: 'injection' };
    await this.#notified(() => this.cluster.put('secrets', { apiVersion: 'v1', kind: 'Secret', metadata, data }));
  }

  async takeAway(): Promise<void> {
    await this.#notified(() => {
      this.cluster.remove('secrets', 'own', 'injection');
    });
  }

  async #notified(change: () => unknown): Promise<void> {
    const before = this.referenceChanges.length;
    const isFollowed = before > 0;
    change();
    if (isFollowed) await this.until(() => this.referenceChanges.length > before);
  }

  /** Reconciles once, and waits until the watch on the Secret exists. */
  async passes(name = 'blue'): Promise<void> {
    await this.reconcile(name);
    await this.watched();
  }

  /** Reports whether a Warning Event has the reason. */
  warned(reason: string): boolean {
    const events = this.cluster.names('events').map((name) => this.cluster.get('events', name, 'default'));
    return events.some((event) => event?.type === 'Warning' && event.reason === reason);
  }

  served(): { certificatePem: string; authorities: string[] } {
    const { 'tls.crt': certificatePem = '', 'ca.crt': bundle = '' } = this.secret('blue-serving');
    return { certificatePem, authorities: parseBundle(bundle).map(({ pem }) => pem) };
  }

  /** Reconciles when requested until this certificate is served. @returns the elapsed seconds */
  async untilServed(certificatePem: string): Promise<number> {
    const begun = this.clock.monotonic();
    for (let passes = 0; passes < 20; passes += 1) {
      const wait = await this.reconcile('blue');
      if (this.served().certificatePem === certificatePem) break;
      await this.clock.advance(wait);
    }
    assert.equal(this.served().certificatePem, certificatePem);
    return (this.clock.monotonic() - begun) / 1000;
  }
}

describe('CertificateSecretProvider', () => {
  const fixture = eachTest(new SecretFixture());

  it('serves the certificate in the Secret from the first pass on, and stores no authority key', async () => {
    const pair = await fixture.pair();
    await fixture.give(pair);
    await fixture.install('blue', { certificate });
    assert.equal(fixture.served().certificatePem, pair.certificatePem);
    assert.deepEqual(fixture.served().authorities, [pair.caPem]);
    fixture.says('blue', 'CertificateReady', /^True\/Stable: .* valid until 2026-06-11T00:00:00/);
    assert.ok(!('ca.key' in fixture.secret('blue')));
    await fixture.recorded(/^Issued: serving certificate [0-9a-f]{8}: provided by Secret injection\/own$/);
  });

  it('publishes no authority that is not recorded, as long as the record waits after a forced write', async () => {
    await fixture.install('blue', { certificate: { provider: 'SelfSigned' } });
    const pair = await fixture.pair();
    await fixture.give(pair);
    fixture.setSpec('blue', { certificate });
    // The operator created the record, so an apply keeps its key, and a forced write follows.
    await fixture.untilServed(pair.certificatePem);
    const { authorities } = fixture.served();
    fixture.setSpec('blue', { certificate: { provider: 'SelfSigned' } });
    for (let pass = 0; pass < 2; pass += 1) {
      const waits = {
        code: 409,
        retryAfter: 1,
        message: /^Secret sidecar-injector-blue was replaced less than a second ago/,
      };
      await assert.rejects(fixture.reconcile('blue'), waits);
      assert.deepEqual(fixture.served().authorities, authorities);
    }
    await fixture.clock.advance(1000);
    await fixture.reconcile('blue');
    assert.equal(fixture.served().authorities.length, authorities.length + 1);
  });

  it('publishes nothing until the Secret has a certificate, and watches the Secret', async () => {
    await fixture.install('blue', { certificate });
    const missing =
      /^False\/SecretMissing: spec\.certificate\.secretRef: Secret injection\/own does not exist; create it with tls\.crt .*; no certificate is served$/;
    fixture.says('blue', 'CertificateReady', missing);
    assert.equal(fixture.path('blue'), undefined);
    await fixture.passes();
    const pair = await fixture.pair();
    await fixture.give(pair);
    await fixture.until(() => fixture.referenceChanges.includes('blue'));
    await fixture.reconcile('blue');
    assert.equal(fixture.served().certificatePem, pair.certificatePem);
    assert.notEqual(fixture.path('blue'), undefined);
  });

  it('trusts the old and the new authority while the provider changes from SelfSigned to Secret and back', async () => {
    await fixture.install();
    const before = fixture.served();
    const pair = await fixture.pair();
    await fixture.give(pair);
    fixture.setSpec('blue', { certificate });
    const seconds = await fixture.untilServed(pair.certificatePem);
    assert.ok(seconds >= 60, `${seconds} s`);
    assert.deepEqual(fixture.served().authorities.sort(), [pair.caPem, ...before.authorities].sort());
    await fixture.clock.advance(1000);
    await fixture.edit('blue', { certificate: {} });
    assert.equal(fixture.served().certificatePem, pair.certificatePem);
    await fixture.later(1000, 'blue');
    await fixture.later(60_000, 'blue');
    await fixture.later(60_000, 'blue');
    assert.notEqual(fixture.served().certificatePem, pair.certificatePem);
    assert.ok(fixture.served().authorities.includes(pair.caPem));
    assert.match(new X509Certificate(fixture.served().certificatePem).issuer, /sidecar-injector-blue/);
  });

  it('refuses an invalid Secret once, names its key and the remedy, and serves the last good certificate', async () => {
    const good = await fixture.pair();
    await fixture.give(good);
    await fixture.install('blue', { certificate });
    await fixture.passes();
    const other = await fixture.pair('other-service');
    const truncated = { ...good, certificatePem: good.certificatePem.slice(0, good.certificatePem.length / 2) };
    const short = await fixture.pair('sidecar-injector-blue', hour);
    fixture.clock.sleep(2 * hour);
    const counted: string[] = [];
    fixture.metrics.certificateRotated = (...what) => counted.push(what.join(' '));
    const table: [() => Promise<void>, RegExp][] = [
      [
        () => fixture.give(other),
        /^False\/NameMissing: .*Secret injection\/own, key tls\.crt: .*; issue the certificate with the subject alternative name sidecar-injector-blue\.injection\.svc; the previous certificate, valid until /,
      ],
      [
        () => fixture.give({ ...good, privateKeyPem: other.privateKeyPem }),
        /^False\/KeyMismatch: .*, key tls\.key: .*; store the private key/,
      ],
      [() => fixture.give({ ...good, caPem: other.caPem }), /^False\/Untrusted: .*, key ca\.crt: /],
      [() => fixture.give(short), /^False\/Expired: .*Secret injection\/own, key tls\.crt: .*; replace it with/],
      [() => fixture.give(truncated), /^False\/Unreadable: .*Secret injection\/own, key tls\.crt: /],
      [() => fixture.give(good, 'tls.key'), /^False\/KeyMissing: .*Secret injection\/own lacks tls\.key; it needs/],
      [() => fixture.give(good, 'ca.crt'), /^False\/KeyMissing: .*Secret injection\/own lacks ca\.crt; it needs/],
      [() => fixture.takeAway(), /^False\/SecretMissing: /],
    ];
    for (const [change, expected] of table) {
      await change();
      await fixture.reconcile('blue');
      await fixture.reconcile('blue');
      fixture.says('blue', 'CertificateReady', expected);
      assert.equal(fixture.served().certificatePem, good.certificatePem);
      assert.deepEqual(fixture.served().authorities, [good.caPem]);
    }
    const reasons = ['NameMissing', 'KeyMismatch', 'Untrusted', 'Expired', 'Unreadable', 'KeyMissing', 'SecretMissing'];
    await fixture.until(() => reasons.every((reason) => fixture.warned(reason)));
    const expected = table.map(() => 'blue leaf refused');
    assert.deepEqual(counted, expected);
    await fixture.give(good);
    await fixture.reconcile('blue');
    fixture.says('blue', 'CertificateReady', /^True\/Stable/);
    assert.doesNotMatch(JSON.stringify(fixture.events()), /PRIVATE/);
  });

  it('does not serve a certificate for the host of another InjectorConfig', async () => {
    const webhook = { url: 'https://injector.example.com' };
    await fixture.install('before', { webhook });
    await fixture.give(await fixture.pair('sidecar-injector-blue', 240 * hour, ['injector.example.com']));
    await fixture.install('blue', { certificate, webhook });
    fixture.says('blue', 'Ready', /^False\/HostTaken: .*InjectorConfig before has the host/);
    assert.equal(fixture.secret('blue-serving')['tls.crt'], undefined);
    assert.equal(fixture.path('blue'), undefined);
  });

  it('reports that the certificate is due for replacement', async () => {
    const pair = await fixture.pair('sidecar-injector-blue', 30 * hour);
    await fixture.give(pair);
    await fixture.install('blue', { certificate });
    fixture.clock.sleep(20 * hour);
    await fixture.reconcile('blue');
    fixture.says('blue', 'CertificateReady', /^True\/RenewalDue: .*: replace it in Secret own before then$/);
  });

  it('refuses a rotate request, since the operator does not issue this certificate', async () => {
    const pair = await fixture.pair();
    await fixture.give(pair);
    await fixture.install('blue', { certificate });
    fixture.annotate('blue', { [rotateAnnotation]: 'leaf:n' });
    await fixture.reconcile('blue');
    const { rotateRequest } = fixture.statusOf('blue').certificate as { rotateRequest: Record<string, string> };
    assert.equal(rotateRequest.state, 'Refused');
    assert.match(
      rotateRequest.message ?? '',
      /provider is Secret, so the operator issues no certificate; replace tls\.crt and tls\.key in Secret \S+\/own$/,
    );
    assert.equal(fixture.served().certificatePem, pair.certificatePem);
  });

  it('stops its watch when the InjectorConfig names another Secret or is deleted', async () => {
    const followed: { name: string; signal: AbortSignal }[] = [];
    const secrets = new FollowedObjects({
      client: { list: () => Promise.resolve({ items: [], resourceVersion: '', continue: undefined }) },
      follow: (_resource, _store, { name }, signal) => followed.push({ name, signal }),
      onChange: () => undefined,
    });
    const provider = secretProvider(secrets, 'injection', fixture.clock);
    const config = (name: string): InjectorConfig =>
      ({ metadata: { name: 'blue' }, spec: { webhook: {}, certificate: { secretRef: { name } } } }) as never;
    const { signal } = new AbortController();
    for (const name of ['one', 'one', 'two']) {
      await provider.provide(config(name), ['x'], signal);
      secrets.endPass('blue');
    }
    const state = (): string[] => followed.map((each) => `${each.name} ${each.signal.aborted ? 'ended' : 'on'}`);
    assert.deepEqual(state(), ['one ended', 'two on']);
    secrets.forget('blue');
    assert.deepEqual(state(), ['one ended', 'two ended']);
  });
});
