import assert from 'node:assert/strict';
import { type Certificate, parseBundle } from '../read-certificate.ts';
import type { CertificatePolicy } from '../certificate-policy.ts';
import type { CertificateSource } from '../rotation/given-certificates.ts';
import type { GenerateKeyPair, CertifiedKey } from '../key-pair.ts';
import { rotate, type Rotation } from '../rotation/rotation.ts';
import type { RotationInput } from '../rotation/rotation-steps.ts';
import type { RenewalRequest } from '../rotation/rotation-request.ts';
import { ServingCertificates } from '../serving-certificates.ts';
import { verifyChain, parsePair, verifyServingPair, type ServingPair } from '../verify-chain.ts';
import { pooledKeys, seededBytes } from './key-pool.ts';

export const second = 1000;

/** Lifetimes that are short enough for a few steps to pass every deadline. */
export const shortPolicy: CertificatePolicy = {
  leafDuration: 600 * second,
  caDuration: 3000 * second,
  renewalFraction: 2 / 3,
  keySize: 2048,
  confirmationPeriod: 60 * second,
};

export const names = { service: 'sidecar-injector-a', namespace: 'injection' };

interface Configuration {
  /** The caBundles, oldest first. API servers may use a value that was replaced within `lag`. */
  readonly bundles: { readonly pem: string; readonly since: number }[];
  /** Whether another client wrote last, so that failures are not the operator's fault. */
  foreign: boolean;
}

/** A cluster in memory: two Secrets, webhook configurations, and replicas that a test syncs. */
export class World {
  now = Date.UTC(2026, 0, 1);
  stored: Readonly<Record<string, string>> | undefined;
  serving: ServingPair | undefined;
  readonly configurations = new Map<string, Configuration>();
  readonly replicas = [new ServingCertificates(), new ServingCertificates()];
  /** Certificates that the operator wrote to the serving Secret. */
  readonly #issued = new Set<string>();
  /** Parsed texts, because every step checks all of them. */
  readonly #parsed = new Map<string, Certificate[]>();
  readonly #random;
  readonly #keys: GenerateKeyPair = pooledKeys();
  policy = shortPolicy;
  /** The renewal that a user requested. */
  request: RenewalRequest | undefined;
  source: CertificateSource | undefined;
  /** The error of the operator's clock, in milliseconds. */
  skew = 0;
  /** The maximum lag of an API server's view of a webhook configuration, in milliseconds. */
  lag = 50 * second;
  last: Rotation | undefined;

  constructor(seed = 1) {
    this.#random = seededBytes(seed);
  }

  readonly history: (Readonly<Record<string, string>> | undefined)[] = [undefined];

  /** Runs one pass of an operator that stops after `writes` writes. */
  async pass(writes = Infinity): Promise<Rotation> {
    if (this.#inUse().length === 0) {
      // Every admission fails until the API servers observe the next bundle.
      for (const configuration of this.configurations.values()) configuration.foreign = true;
    }
    const rotation = await rotate(this.input());
    this.last = rotation;
    const steps = [
      () => {
        this.stored = rotation.stored;
        this.history.push(rotation.stored);
      },
      () => {
        this.#serve(rotation.serving);
      },
      ...['one', 'two'].map((name) => () => {
        this.publish(name, rotation.caBundlePem);
      }),
    ];
    for (const step of steps.slice(0, writes)) {
      step();
      this.check();
    }
    return rotation;
  }

  input(): RotationInput {
    return {
      stored: this.stored,
      serving: this.serving && parsePair(this.serving),
      bundles: [...this.configurations.values()].map(({ bundles }) => this.#parse(bundles.at(-1)!.pem)),
      policy: this.policy,
      names,
      now: new Date(this.now + this.skew),
      random: this.#random,
      generateKeyPair: this.#keys,
      ...(this.request && { request: this.request }),
      ...(this.source && { source: this.source }),
    };
  }

  publish(name: string, pem: string, foreign = false): void {
    const configuration = this.configurations.get(name) ?? { bundles: [], foreign };
    if (configuration.foreign || configuration.bundles.at(-1)?.pem !== pem) {
      // The operator need not stay compatible with a bundle from another client.
      const bundles = configuration.foreign ? [] : configuration.bundles;
      this.configurations.set(name, { bundles: [...bundles, { pem, since: this.now }], foreign });
    }
  }

  /** Offers the serving Secret to a replica. */
  sync(replica: number): void {
    if (this.serving !== undefined) this.replicas[replica]?.offer('a', this.serving, new Date(this.now));
  }

  /** Offers the serving Secret to all replicas. */
  syncAll(): void {
    for (const index of this.replicas.keys()) this.sync(index);
  }

  /** Advances the time to the next pass that the operator requested. */
  advanceToNext(): void {
    this.advance(this.last!.nextAt.getTime() - this.now);
  }

  advance(milliseconds: number): void {
    this.now += milliseconds;
    this.check();
  }

  /** Asserts that each bundle that may be in use accepts each used leaf of an operator. */
  check(): void {
    for (const leaf of this.#inUse()) {
      for (const [name, { bundles, foreign }] of this.configurations) {
        const views = foreign ? [] : bundles.filter((_, index) => (bundles[index + 1]?.since ?? Infinity) > this.now - this.lag);
        for (const { pem } of views) {
          const faults = verifyChain(this.#parse(leaf.certificatePem), this.#parse(pem), { now: new Date(this.now) });
          assert.deepEqual(faults, [], `configuration ${name} at ${new Date(this.now).toISOString()}`);
        }
      }
    }
  }

  #parse(text: string): Certificate[] {
    const parsed = this.#parsed.get(text) ?? parseBundle(text);
    this.#parsed.set(text, parsed);
    return parsed;
  }

  #serve(pair: ServingPair | undefined): void {
    if (pair !== undefined) {
      this.serving = { certificatePem: pair.certificatePem, privateKeyPem: pair.privateKeyPem, caPem: pair.caPem };
      this.#issued.add(pair.certificatePem);
    }
  }

  #inUse(): CertifiedKey[] {
    const served = this.replicas.flatMap((replica): CertifiedKey[] => replica.all());
    return [...served, ...(this.serving ? [this.serving] : [])].filter(
      ({ certificatePem }) =>
        this.#issued.has(certificatePem) && this.#parse(certificatePem)[0]!.notAfter.getTime() > this.now,
    );
  }

  /** Advances the time until the rotation is stable, then asserts a consistent state. */
  async settle(): Promise<void> {
    for (let pass = 0; pass < 40; pass++) {
      const { phase } = await this.pass();
      this.syncAll();
      if (phase === 'Stable') break;
      this.advanceToNext();
    }
    const { phase, caBundlePem, serving } = await this.pass();
    assert.equal(phase, 'Stable');
    assert.equal(parseBundle(caBundlePem).length, 1);
    const published = [...this.configurations.values()].map(({ bundles }) => bundles.at(-1)?.pem);
    assert.deepEqual(published, [caBundlePem, caBundlePem]);
    assert.deepEqual(this.serving?.certificatePem, serving?.certificatePem);
    const expected = { now: new Date(this.now), names: ['sidecar-injector-a.injection.svc'] };
    assert.deepEqual(verifyServingPair(parsePair(this.serving!), expected), []);
    for (const replica of this.replicas) {
      const fingerprints = replica.all().map(({ fingerprint }) => fingerprint);
      assert.deepEqual(fingerprints, [serving?.fingerprint]);
    }
  }
}
