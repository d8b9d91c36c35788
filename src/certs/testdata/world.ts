import assert from 'node:assert/strict';
import { parseBundle, readCertificate } from '../read-certificate.ts';
import type { CertificatePolicy } from '../certificate-policy.ts';
import type { CertificateSource } from '../rotation/given-certificates.ts';
import type { GenerateKeyPair, CertifiedKey } from '../key-pair.ts';
import { rotate, type Rotation } from '../rotation/rotation.ts';
import type { RotationInput } from '../rotation/rotation-steps.ts';
import type { RenewalRequest } from '../rotation/rotation-request.ts';
import { ServingCertificates } from '../serving-certificates.ts';
import { verifyChain, verifyServingPair, type ServingPair } from '../verify-chain.ts';
import { pooledKeys, seededBytes } from './key-pool.ts';

export const second = 1000;

/** Lives so short that a few steps cross every deadline. */
export const shortPolicy: CertificatePolicy = {
  leafDuration: 600 * second,
  caDuration: 3000 * second,
  renewalFraction: 2 / 3,
  keySize: 2048,
  confirmationPeriod: 60 * second,
};

export const names = { service: 'sidecar-injector-a', namespace: 'injection' };

interface Configuration {
  /** What is stored, and since when; older values first. The API server may still act on any that was replaced less than `lag` ago. */
  readonly bundles: { readonly pem: string; readonly since: number }[];
  /** Somebody else wrote it last: what fails until it is repaired is not the operator's doing. */
  foreign: boolean;
}

/** A cluster in memory: the two Secrets, webhook configurations, replicas that follow the serving Secret whenever they are told to. */
export class World {
  now = Date.UTC(2026, 0, 1);
  stored: Readonly<Record<string, string>> | undefined;
  serving: ServingPair | undefined;
  readonly configurations = new Map<string, Configuration>();
  readonly replicas = [new ServingCertificates(), new ServingCertificates()];
  /** Certificates that the operator put into the serving Secret. */
  readonly #issued = new Set<string>();
  readonly #random;
  readonly #keys: GenerateKeyPair = pooledKeys();
  policy = shortPolicy;
  /** What a person has asked for. */
  request: RenewalRequest | undefined;
  /** Who issues. */
  source: CertificateSource | undefined;
  /** How wrong the operator's clock is. */
  skew = 0;
  /** How far an API server's view of a configuration may lag. */
  lag = 50 * second;
  last: Rotation | undefined;

  constructor(seed = 1) {
    this.#random = seededBytes(seed);
  }

  /** Every stored state there has been. */
  readonly history: (Readonly<Record<string, string>> | undefined)[] = [undefined];

  /** One pass of the operator that is killed after `writes` writes. */
  async pass(writes = Infinity): Promise<Rotation> {
    if (this.#inUse().length === 0) {
      // Every admission fails already, and will until the API servers have seen what is published next.
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

  /** What a pass looks at. */
  input(): RotationInput {
    return {
      stored: this.stored,
      serving: this.serving,
      bundles: [...this.configurations.values()].map(({ bundles }) => bundles.at(-1)!.pem),
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
      // What somebody else wrote is not what the operator must be compatible with.
      const bundles = configuration.foreign ? [] : configuration.bundles;
      this.configurations.set(name, { bundles: [...bundles, { pem, since: this.now }], foreign });
    }
  }

  /** Replicas see the serving Secret. */
  sync(replica: number): void {
    if (this.serving !== undefined) this.replicas[replica]?.offer('a', this.serving, new Date(this.now));
  }

  /** All replicas see it. */
  syncAll(): void {
    for (const index of this.replicas.keys()) this.sync(index);
  }

  /** Lets time pass until the operator wants to look again. */
  advanceToNext(): void {
    this.advance(this.last!.nextAt.getTime() - this.now);
  }

  advance(milliseconds: number): void {
    this.now += milliseconds;
    this.check();
  }

  /** Every leaf of ours that a replica serves is accepted by every bundle that an API server may be using. */
  check(): void {
    for (const leaf of this.#inUse()) {
      for (const [name, { bundles, foreign }] of this.configurations) {
        const views = foreign ? [] : bundles.filter((_, index) => (bundles[index + 1]?.since ?? Infinity) > this.now - this.lag);
        for (const { pem } of views) {
          const faults = verifyChain(leaf.certificatePem, pem, { now: new Date(this.now) });
          assert.deepEqual(faults, [], `configuration ${name} at ${new Date(this.now).toISOString()}`);
        }
      }
    }
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
        this.#issued.has(certificatePem) && readCertificate(certificatePem).notAfter.getTime() > this.now,
    );
  }

  /** Lets time pass until the rotation rests, then asserts that everything fits together. */
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
    assert.deepEqual(verifyServingPair(this.serving!, expected), []);
    for (const replica of this.replicas) {
      const fingerprints = replica.all().map(({ fingerprint }) => fingerprint);
      assert.deepEqual(fingerprints, [serving?.fingerprint]);
    }
  }
}
