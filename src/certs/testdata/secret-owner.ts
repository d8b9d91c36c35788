import { issueAuthority, issueServingCertificate } from '../issue-certificate.ts';
import type { CertifiedKey } from '../key-pair.ts';
import { checkGivenPair, type CertificateSource } from '../rotation/given-certificates.ts';
import { readChain } from '../read-certificate.ts';
import type { ServingPair } from '../verify-chain.ts';
import { keyPool, seededBytes } from './key-pool.ts';

const second = 1000;
const lives = { leaf: 900 * second, authority: 5000 * second };

/** A user who keeps their own certificates in a Secret and renews them in time. */
export class SecretOwner {
  readonly #service: { readonly service: string; readonly namespace: string };
  readonly #random: ReturnType<typeof seededBytes>;
  #authority: CertifiedKey | undefined;
  #pair: ServingPair | undefined;

  constructor(service: { readonly service: string; readonly namespace: string }, seed = 77) {
    this.#service = service;
    this.#random = seededBytes(seed);
  }

  /** Returns the content of the Secret after the operator has checked it. */
  async source(now: number): Promise<CertificateSource> {
    const pair = await this.pair(now);
    const checked = checkGivenPair(pair, 'Secret injection/own', {
      now: new Date(now),
      names: [`${this.#service.service}.${this.#service.namespace}.svc`],
    });
    return 'given' in checked ? checked.given : 'Unavailable';
  }

  async pair(now: number): Promise<ServingPair> {
    if (this.#authority === undefined || endsIn(this.#authority.certificatePem, now) < lives.leaf) {
      await this.replaceAuthority(now);
    }
    if (this.#pair === undefined || endsIn(this.#pair.certificatePem, now) < lives.leaf / 2) await this.renewLeaf(now);
    return this.#pair!;
  }

  async replaceAuthority(now: number): Promise<void> {
    const keys = (await keyPool())[4]!;
    this.#authority = issueAuthority('owner', keys, { now: new Date(now), duration: lives.authority, random: this.#random });
    await this.renewLeaf(now);
  }

  async renewLeaf(now: number): Promise<void> {
    const authority = this.#authority!;
    const keys = (await keyPool())[5]!;
    const leaf = issueServingCertificate(authority, this.#service, keys, { now: new Date(now), duration: lives.leaf, random: this.#random });
    this.#pair = { ...leaf, caPem: authority.certificatePem };
  }
}

function endsIn(certificatePem: string, now: number): number {
  return readChain(certificatePem)[0].notAfter.getTime() - now;
}
