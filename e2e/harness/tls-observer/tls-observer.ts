import type { X509Certificate } from 'node:crypto';
import { parseBundle } from '../../../src/certs/read-certificate.ts';
import { repeat } from '../repeat.ts';
import type { Replica } from '../replicas/replicas.ts';
import { waitFor } from '../wait-for.ts';
import { shakeHands } from './handshake.ts';

interface ObserverOptions {
  /** Returns the webhook's current caBundle as PEM; '' if there is no caBundle. */
  readBundle: () => Promise<string>;
  /** The name under which the API server calls the webhook. */
  servername: string;
  replicas: () => readonly Replica[];
  /** The milliseconds between two rounds; default 200. */
  pause?: number | undefined;
}

export interface SeenLeaf {
  /** SHA-256 fingerprints of the certificate and of the CA in the live bundle that signed it. */
  fingerprint: string;
  issuer: string | undefined;
  notAfter: Date;
  firstSeen: Map<string, number>;
  lastSeen: number;
}

interface Violation {
  at: number;
  description: string;
}

/**
 * Connects to each replica directly, as a TLS client. Records which CA issued the replica's
 * certificate, and whether the live CA bundle verifies the certificate. A violation needs two
 * failed handshakes in a row, each right after a read of the bundle, because the bundle or the
 * certificate may change between read and handshake.
 */
export class TlsObserver {
  readonly violations: Violation[] = [];
  /** Every certificate seen so far, by fingerprint. */
  readonly leaves = new Map<string, SeenLeaf>();
  handshakes = 0;
  mostAuthorities = 0;
  authorities: string[] = [];
  readonly stop: () => Promise<void>;
  readonly #options: ObserverOptions;
  readonly #latest = new Map<string, SeenLeaf>();
  #rounds = 0;

  /** Starts to observe. */
  constructor(options: ObserverOptions) {
    this.#options = options;
    this.stop = repeat(async (pause) => {
      const bundle = await this.#bundle();
      if (bundle !== undefined) await Promise.all(this.#watched().map((replica) => this.#look(replica, bundle)));
      this.#rounds++;
      await pause(options.pause ?? 200);
    });
  }

  /** Returns the certificate that all running replicas last served; undefined if they differ. */
  common(): SeenLeaf | undefined {
    const leaves = new Set(this.#watched().map(({ name }) => this.#latest.get(name)));
    const [leaf] = leaves;
    return leaves.size === 1 ? leaf : undefined;
  }

  /** Waits until all running replicas serve one certificate that is not `before`. */
  async waitForOther(before: SeenLeaf | undefined): Promise<SeenLeaf> {
    const begun = this.#rounds;
    return waitFor('every replica to serve a new certificate', () => {
      const leaf = this.#rounds > begun + 1 ? this.common() : undefined;
      return leaf !== before && leaf;
    });
  }

  /** Waits until a round that began after this call has observed every replica. */
  async waitForRound(): Promise<void> {
    const begun = this.#rounds;
    await waitFor('the observer to finish a round', () => this.#rounds > begun + 1);
  }

  violationsSince(time: number): Violation[] {
    return this.violations.filter(({ at }) => at >= time);
  }

  #watched(): Replica[] {
    return this.#options.replicas().filter(({ operator }) => operator.process.running);
  }

  async #look(replica: Replica, bundle: string): Promise<void> {
    const first = await this.#handshake(replica, bundle);
    if (first === undefined) return;
    const again = await this.#bundle();
    const second = again === undefined ? undefined : await this.#handshake(replica, again);
    // A killed process is no longer a replica.
    if (second === undefined || !replica.operator.process.running) return;
    this.violations.push({ at: Date.now(), description: `${replica.name}: ${first}, then ${second}` });
  }

  /** Returns the reason why the client refuses the connection. */
  async #handshake({ name, operator }: Replica, bundle: string): Promise<string | undefined> {
    this.handshakes++;
    const { leaf, fault } = await shakeHands(operator.webhookPort, this.#options.servername, bundle);
    if (leaf !== undefined) this.#note(name, leaf, bundle);
    return fault;
  }

  #note(replica: string, certificate: X509Certificate, bundle: string): void {
    const fingerprint = certificate.fingerprint256;
    const known = this.leaves.get(fingerprint);
    const leaf = known ?? {
      fingerprint,
      issuer: undefined,
      notAfter: new Date(certificate.validTo),
      firstSeen: new Map<string, number>(),
      lastSeen: 0,
    };
    leaf.issuer ??= parseBundle(bundle).find(({ x509 }) => certificate.verify(x509.publicKey))?.x509.fingerprint256;
    leaf.lastSeen = Date.now();
    if (!leaf.firstSeen.has(replica)) leaf.firstSeen.set(replica, leaf.lastSeen);
    this.leaves.set(fingerprint, leaf);
    this.#latest.set(replica, leaf);
  }

  /** Reads the CA bundle. Returns undefined if the API server did not answer. */
  async #bundle(): Promise<string | undefined> {
    const bundle = await this.#options.readBundle().catch(() => undefined);
    if (bundle === undefined) return undefined;
    this.authorities = parseBundle(bundle).map(({ x509 }) => x509.fingerprint256);
    this.mostAuthorities = Math.max(this.mostAuthorities, this.authorities.length);
    return bundle;
  }
}
