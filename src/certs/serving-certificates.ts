import { parseBundle } from './read-certificate.ts';
import { verifyServingPair, type ChainFault, type ServingPair } from './verify-chain.ts';

/** A pair that is served, as the server's secure contexts are built from it. */
export interface ServingCertificate extends ServingPair {
  /** Who it was offered for, e.g. the name of the InjectorConfig. */
  readonly owner: string;
  /** DNS names of the leaf, which SNI is compared with, in lower case. */
  readonly serverNames: readonly string[];
  /** SHA-256 of the leaf, 64 lower-case hex digits. */
  readonly fingerprint: string;
  readonly notAfter: Date;
}

/**
 * The serving certificates of a replica, in memory: filled from the watched serving Secrets, read by the TLS listener at each handshake.
 * A pair that could not serve is refused and the last good one stays, so a damaged Secret costs no admission.
 */
export class ServingCertificates {
  readonly #byOwner = new Map<string, ServingCertificate>();

  /** Takes a pair over if it can serve. @returns the faults for which it was refused; empty when it is served now */
  offer(owner: string, pair: ServingPair, now: Date): readonly ChainFault[] {
    const [leaf] = parseBundle(pair.certificatePem);
    // A leaf from the future is taken: it may be this replica's clock that is behind.
    const at = leaf !== undefined && leaf.notBefore > now ? leaf.notBefore : now;
    const faults = verifyServingPair(pair, { now: at });
    if (leaf === undefined || faults.length > 0) return faults;
    const known = this.#byOwner.get(owner);
    const { fingerprint, notAfter, dnsNames } = leaf;
    if (known?.fingerprint === fingerprint && known.caPem === pair.caPem) return [];
    const serverNames = dnsNames.map((name) => name.toLowerCase());
    this.#byOwner.set(owner, { ...pair, owner, serverNames, fingerprint, notAfter });
    return [];
  }

  /** Forgets an owner's pair: its configuration is gone. Not for a Secret that was deleted, whose pair goes on being served. */
  remove(owner: string): void {
    this.#byOwner.delete(owner);
  }

  /** The certificate for a server name, in any case, by that very name or by a wildcard; undefined when nobody serves it. */
  forServerName(serverName: string): ServingCertificate | undefined {
    const wanted = serverName.toLowerCase();
    const certificates = this.all();
    return (
      certificates.find(({ serverNames }) => serverNames.includes(wanted)) ??
      certificates.find(({ serverNames }) => serverNames.includes(wanted.replace(/^[^.]+/, '*')))
    );
  }

  /** For clients that send no name (an IP address is never sent) or an unknown one: of those still held, the one that was offered first. */
  defaultPair(): ServingCertificate | undefined {
    const [first] = this.#byOwner.values();
    return first;
  }

  /** A server name of each certificate and the end of its validity. */
  expiries(): (readonly [serverName: string, notAfter: Date])[] {
    return this.all().map(({ owner, serverNames, notAfter }) => [serverNames[0] ?? owner, notAfter]);
  }

  /** All of them, for metrics, readiness and status. */
  all(): ServingCertificate[] {
    return [...this.#byOwner.values()];
  }
}
