import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import { objectNames } from '../../api/names.ts';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import type { CertifiedKey, KeyPair } from '../../certs/key-pair.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { seededBytes } from '../../certs/testdata/key-pool.ts';
import { verifyChain } from '../../certs/verify-chain.ts';
import { isConflict } from '../../kube/api-error.ts';
import { nextKeyPair, type PerformedWrite } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';
import { secretText } from './secret-text.ts';

const second = 1000;
const hour = 3600 * second;
/** How long another leader waits for the Lease, and how long a process takes to restart, in ms. */
const restartMs = [15 * second, second];
const settings = { certificateSigningRequests: true, certManager: true };
const terms = { leafDuration: '1h', caDuration: '24h', confirmationPeriod: '15s' };
/** How long after a change of the serving Secret a slow replica loads it, in milliseconds. */
const loadMs = 14 * second;
const { authoritySecret, requestSecret, certificate } = objectNames('blue');
const requests = 'certificatesigningrequests';

const providers = {
  SelfSigned: {},
  Secret: { secretRef: { name: 'company-tls' } },
  CertificateSigningRequest: { signerName: 'example.com/serving', caBundleFrom: { name: 'roots' } },
  CertManager: { issuerRef: { name: 'company' } },
};
type Provider = keyof typeof providers;

/** An operator with replicas, a signer, cert-manager and a user who has a certificate. */
class KilledRotation extends RevisionFixture {
  /** The times at which the live bundle did not verify a certificate that a replica may serve. */
  readonly unverified: string[] = [];
  readonly #random = seededBytes(3);
  readonly #issuers = new Map<Provider, CertifiedKey>();
  #keys!: KeyPair;
  /** The leaf in the serving Secret, and the leaf that slow replicas serve until a time. */
  #stored = '';
  #loading = { before: '', until: 0 };
  kills: PerformedWrite[] = [];

  async open(): Promise<void> {
    await this.start(settings);
    this.#keys = await nextKeyPair();
    const options = { now: this.clock.now(), random: this.#random, duration: 10_000 * hour };
    for (const provider of ['Secret', 'CertificateSigningRequest', 'CertManager'] as const)
      this.#issuers.set(provider, issueAuthority(provider, await nextKeyPair(), options));
    const roots = { 'ca.crt': this.#root('CertificateSigningRequest') };
    const metadata = { name: 'roots', namespace: 'injection' };
    this.cluster.put('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: roots });
    [this.#stored, this.#loading, this.kills] = ['', { before: '', until: 0 }, []];
    this.unverified.length = 0;
    this.cluster.changed = () => this.#verify();
    await this.install('blue', { certificate: terms });
    await this.drive(() => this.phase === 'Stable');
  }

  get #status(): { phase?: string; rotateRequest?: { nonce: string; state: string } } {
    return this.statusOf('blue').certificate ?? {};
  }

  get phase(): string {
    return this.#status.phase ?? '';
  }

  get leaf(): string {
    return this.secret('blue-serving')['tls.crt'] ?? '';
  }

  get bundle(): string {
    return Buffer.from(this.webhooks('blue')[0]?.clientConfig.caBundle ?? '', 'base64').toString();
  }

  /** The provider that issued the leaf in the serving Secret. */
  get issuer(): Provider {
    const now = this.clock.now();
    const isIssuer = (each: Provider): boolean =>
      verifyChain(parseBundle(this.leaf), parseBundle(this.#root(each)), { now }).length === 0;
    return [...this.#issuers.keys()].find(isIssuer) ?? 'SelfSigned';
  }

  /** Sets the provider. For provider Secret, the user also writes a new certificate. */
  choose(provider: Provider): void {
    if (provider === 'Secret' && this.issuer !== 'Secret') this.#writePair('company-tls', 'Secret');
    this.setSpec('blue', { certificate: { ...terms, provider, ...providers[provider] } });
  }

  /** Rotates the authority by force. Returns the writes. */
  async rotate(): Promise<RotationWrite[]> {
    const from = this.performed.length;
    const nonce = `n-${from}`;
    this.annotate('blue', { [rotateAnnotation]: `authority-force:${nonce}` });
    await this.drive(() => {
      const { rotateRequest, phase } = this.#status;
      return rotateRequest?.nonce === nonce && rotateRequest.state === 'Done' && phase === 'Stable';
    });
    return rotationWrites(this.performed.slice(from));
  }

  /** Runs the passes that are due until nothing remains to do and the condition holds. */
  async drive(isDone: () => boolean): Promise<void> {
    for (let turn = 0; ; turn += 1) {
      assert.ok(turn < 300, `phase ${this.phase}, objects ${this.objects().join(', ')}`);
      this.#issue();
      await this.watched();
      const before = this.performed.length;
      const wait = await this.passNow('blue').catch((error: unknown) => {
        // The loop retries after this wait, too.
        if (isConflict(error)) return (error.retryAfter ?? 0) * second;
        throw error;
      });
      if (this.signal.aborted) {
        this.kills.push(...this.performed.slice(-1));
        await this.clock.advance(restartMs[this.kills.length % 2] ?? 0);
        this.restart(settings);
      } else if (this.performed.length === before) {
        if (isDone()) return;
        await this.clock.advance(wait);
      }
    }
  }

  /** Returns the objects of providers, with the provider that needs them. */
  objects(): string[] {
    const found = [
      ...this.cluster.list(requests).map(() => 'CertificateSigningRequest'),
      ...this.cluster.list('certificates').map(() => 'CertManager'),
    ];
    if (this.cluster.get('secrets', requestSecret, 'injection')) found.push('CertificateSigningRequest');
    if (this.cluster.get('secrets', certificate, 'injection')) found.push('CertManager');
    return found;
  }

  /** Reports whether a provider's leaf is served, and only objects of this provider exist. */
  isSettled(provider: Provider): boolean {
    const isOwn = this.objects().every((each) => each === provider);
    return isOwn && this.issuer === provider && ['Stable', 'Retiring'].includes(this.phase);
  }

  /** Records a fault if the live bundle does not verify a leaf that some replica may serve. */
  #verify(): void {
    const { leaf, bundle } = this;
    const now = this.clock.now();
    if (leaf !== this.#stored) this.#loading = { before: this.#stored, until: now.getTime() + loadMs };
    this.#stored = leaf;
    const served = now.getTime() < this.#loading.until ? [leaf, this.#loading.before] : [leaf];
    for (const each of served.filter((text) => text !== '' && bundle !== ''))
      for (const { message } of verifyChain(parseBundle(each), parseBundle(bundle), { now }))
        this.unverified.push(`${now.toISOString()}: ${message}`);
  }

  #root(provider: Provider): string {
    return this.#issuers.get(provider)?.certificatePem ?? '';
  }

  /** Acts as the signer and as cert-manager. */
  #issue(): void {
    const { 'pending.key': privateKeyPem } = secretText(
      this.cluster.get('secrets', requestSecret, 'injection') ?? blank,
    );
    for (const { metadata, status } of this.cluster.list(requests)) {
      if (status !== undefined || privateKeyPem === undefined) continue;
      const publicKeyPem = createPublicKey(privateKeyPem).export({ type: 'spki', format: 'pem' }) as string;
      const { certificatePem } = this.#leafOf('CertificateSigningRequest', { privateKeyPem, publicKeyPem });
      this.cluster.edit(requests, metadata.name ?? '', undefined, (object) => {
        object.status = { certificate: Buffer.from(certificatePem).toString('base64') };
      });
    }
    const isIssued = this.cluster.get('secrets', certificate, 'injection') !== undefined;
    if (this.cluster.list('certificates').length > 0 && !isIssued) this.#writePair(certificate, 'CertManager');
  }

  #leafOf(provider: Provider, keys: KeyPair): CertifiedKey {
    const names = { service: 'sidecar-injector-blue', namespace: 'injection' };
    const options = { now: this.clock.now(), random: this.#random, duration: 80 * 60 * second };
    return issueServingCertificate(this.#issuers.get(provider)!, names, keys, options);
  }

  #writePair(name: string, provider: Provider): void {
    const { certificatePem, privateKeyPem } = this.#leafOf(provider, this.#keys);
    const texts = { 'tls.crt': certificatePem, 'tls.key': privateKeyPem, 'ca.crt': this.#root(provider) };
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    const metadata = { name, namespace: 'injection', annotations: { 'cert-manager.io/certificate-name': name } };
    this.cluster.put('secrets', { apiVersion: 'v1', kind: 'Secret', metadata, data });
  }
}

const blank = { apiVersion: 'v1', kind: 'Secret', metadata: {} };

interface RotationWrite {
  /** The phase, verb, resource and name. Two writes of one rotation may have the same text. */
  readonly what: string;
  /** The body, without the fields that the API server or the time determines. */
  readonly body: string;
}

/** Adds the phase of the rotation, which the last write of the authority's Secret determines. */
function rotationWrites(writes: readonly PerformedWrite[]): RotationWrite[] {
  let phase = 'Stable';
  return writes.map(({ verb, resource, name, body }) => {
    if (resource === 'secrets' && name === authoritySecret) phase = phaseIn(body);
    const essence = body.replace(/"(resourceVersion|lastTransitionTime)":"[^"]*"/g, '"$1":""');
    return { what: `${phase}: ${verb} ${resource} ${name}`, body: essence };
  });
}

function phaseIn(body: string): string {
  const { 'rotation.json': json = '{}' } = secretText(JSON.parse(body) as typeof blank);
  const { staged, retiring = [] } = JSON.parse(json) as { staged?: { publishedAt?: string }; retiring?: unknown[] };
  if (staged !== undefined) return staged.publishedAt === undefined ? 'Publishing' : 'Confirming';
  return retiring.length > 0 ? 'Retiring' : 'Stable';
}

/** Describes writes that an undisturbed rotation does not make, and repeats with other contents. */
function faultsOf(writes: readonly RotationWrite[], plan: readonly RotationWrite[]): string[] {
  return [...new Set(writes.map(({ what }) => what))].flatMap((what) => {
    const planned = plan.filter((write) => write.what === what).length;
    const contents = new Set(writes.filter((write) => write.what === what).map(({ body }) => body)).size;
    if (planned === 0) return [`not planned: ${what}`];
    return contents > planned ? [`written with ${contents} contents instead of ${planned}: ${what}`] : [];
  });
}

/** Returns what identifies a write, except the phase. The name of a request has a random part. */
function identityOf({ verb, resource, name }: PerformedWrite): string {
  return `${verb} ${resource} ${resource === requests ? 'of the revision' : name}`;
}

describe('the leader is killed after each write', () => {
  const fixture = new KilledRotation();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.stop());
  const killAt = (position: number): void => {
    const from = fixture.performed.length;
    fixture.isFatal = () => fixture.performed.length - from === position;
  };

  it('of a rotation of the authority: it makes the same writes as an undisturbed rotation, and completes', async () => {
    // The first rotation also has writes that a process makes only once.
    await fixture.rotate();
    const plan = await fixture.rotate();
    assert.ok(plan.length >= 10, plan.map(({ what }) => what).join('\n'));
    for (const [index, { what }] of plan.entries()) {
      const [before] = parseBundle(fixture.bundle);
      killAt(index + 1);
      const faults = faultsOf(await fixture.rotate(), plan);
      const message = `killed after write ${index + 1} (${what})`;
      assert.deepEqual([...faults, ...fixture.unverified], [], message);
      const [authority, ...others] = parseBundle(fixture.bundle);
      assert.deepEqual([others.length, authority?.fingerprint === before?.fingerprint], [0, false], message);
    }
    assert.equal(fixture.kills.length, plan.length);
  });

  it('negative control: a process that loses the record of a rotation stages another authority', async () => {
    const plan = await fixture.rotate();
    let losses = 0;
    fixture.isLost = ({ resource, name }) =>
      `${resource} ${name}` === `secrets ${authoritySecret}` && (losses += 1) === 1;
    killAt(1 + plan.findIndex(({ what }) => what.includes('mutatingwebhookconfigurations')));
    assert.match(
      faultsOf(await fixture.rotate(), plan).join(),
      /with \d contents instead of 1: Publishing: .* secrets/,
    );
  });

  /** The providers in order: each switch between two providers occurs once. */
  const way: Provider[] = [
    ...(['Secret', 'SelfSigned', 'CertificateSigningRequest', 'SelfSigned', 'CertManager', 'Secret'] as const),
    ...(['CertificateSigningRequest', 'Secret', 'CertManager', 'CertificateSigningRequest', 'CertManager'] as const),
    'SelfSigned',
  ];
  const switchTo = async (provider: Provider): Promise<string[]> => {
    const { length } = fixture.performed;
    fixture.choose(provider);
    await fixture.drive(() => fixture.isSettled(provider));
    return fixture.performed.slice(length).map(identityOf);
  };

  it('of each switch between two providers: only objects of the new provider remain', async () => {
    // Only the first of these switches replaces the Secret that the operator created.
    for (const provider of ['Secret', 'SelfSigned'] as const) await switchTo(provider);
    const plans: string[][] = [];
    for (const provider of way) plans.push(await switchTo(provider));
    // All other authorities retire, so that the same switches write the same bundles again.
    await fixture.drive(() => fixture.phase === 'Stable');
    fixture.isFatal = () => true;
    for (const [index, provider] of way.entries()) {
      fixture.kills = [];
      await switchTo(provider);
      const killed = new Set(fixture.kills.map(identityOf));
      const missing = (plans[index] ?? []).filter((each) => !killed.has(each));
      assert.deepEqual([...missing, ...fixture.unverified], [], `from ${way.at(index - 1) ?? ''} to ${provider}`);
    }
  });

  it('of a switch that is reverted halfway: the old certificate is still served', async () => {
    for (const [from, to] of [
      ['SelfSigned', 'CertManager'],
      ['Secret', 'SelfSigned'],
      ['CertificateSigningRequest', 'SelfSigned'],
    ] as const) {
      fixture.isFatal = () => false;
      await switchTo(from);
      const { leaf } = fixture;
      const before = parseBundle(fixture.bundle).length;
      fixture.choose(to);
      await fixture.drive(() => fixture.phase === 'Confirming');
      assert.equal(parseBundle(fixture.bundle).length, before + 1);
      fixture.isFatal = () => true;
      fixture.choose(from);
      const until = fixture.clock.now().getTime() + 600 * second;
      await fixture.drive(() => fixture.clock.now().getTime() > until && fixture.isSettled(from));
      assert.equal(fixture.leaf, leaf);
      assert.deepEqual(fixture.unverified, []);
    }
  });

  it('negative control: a process that loses the bundle serves a certificate that the bundle does not verify', async () => {
    let losses = 0;
    fixture.isLost = ({ resource }) => resource === 'mutatingwebhookconfigurations' && (losses += 1) === 1;
    fixture.choose('Secret');
    await fixture.drive(() => fixture.issuer === 'Secret');
    assert.match(fixture.unverified.join(), /^2026-\S+: /);
  });
});
