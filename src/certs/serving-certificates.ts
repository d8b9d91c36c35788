import { parsePair, verifyServingPair, type ChainFault, type ParsedPair, type ServingPair } from './verify-chain.ts';

/** A served pair, from which the server builds its secure contexts. */
export interface ServingCertificate extends ServingPair, ParsedPair {
  /** The name of the InjectorConfig that owns the pair. */
  readonly owner: string;
  /** The DNS names of the leaf in lower case, for SNI. */
  readonly serverNames: readonly string[];
  /** The SHA-256 of the leaf, as 64 lower-case hex digits. */
  readonly fingerprint: string;
  readonly notAfter: Date;
}

/**
 * The serving certificates of a replica, in memory. The watch of serving Secrets fills it; the TLS
 * listener reads it at each handshake. Rejects an invalid pair and keeps the last valid pair, so
 * that a damaged Secret makes no admission fail.
 */
export class ServingCertificates {
  readonly #byOwner = new Map<string, ServingCertificate>();

  /** Stores a valid pair. @returns the faults of an invalid pair; empty if it is valid */
  offer(owner: string, pair: ServingPair, now: Date): readonly ChainFault[] {
    const parsed = parsePair(pair);
    const [leaf] = parsed.chain;
    // Accepts a leaf that is not valid yet, because the clock of this replica may be slow.
    const at = leaf !== undefined && leaf.notBefore > now ? leaf.notBefore : now;
    const faults = verifyServingPair(parsed, { now: at });
    if (leaf === undefined || faults.length > 0) return faults;
    const known = this.#byOwner.get(owner);
    const { fingerprint, notAfter, dnsNames } = leaf;
    if (known?.fingerprint === fingerprint && known.caPem === pair.caPem) return [];
    const serverNames = dnsNames.map((name) => name.toLowerCase());
    this.#byOwner.set(owner, { ...pair, ...parsed, owner, serverNames, fingerprint, notAfter });
    return [];
  }

  /** Removes the pair of a deleted InjectorConfig. Do not call this if only the Secret is gone. */
  remove(owner: string): void {
    this.#byOwner.delete(owner);
  }

  /** Returns the certificate for a server name in any case. Prefers an exact name to a wildcard. */
  forServerName(serverName: string): ServingCertificate | undefined {
    const requested = serverName.toLowerCase();
    const certificates = this.all();
    return (
      certificates.find(({ serverNames }) => serverNames.includes(requested)) ??
      certificates.find(({ serverNames }) => serverNames.includes(requested.replace(/^[^.]+/, '*')))
    );
  }

  /** Returns the first stored pair, for clients that send no server name or an unknown one. */
  defaultPair(): ServingCertificate | undefined {
    const [first] = this.#byOwner.values();
    return first;
  }

  /** Returns a server name and the notAfter of each certificate. */
  expiries(): (readonly [serverName: string, notAfter: Date])[] {
    return this.all().map(({ owner, serverNames, notAfter }) => [serverNames[0] ?? owner, notAfter]);
  }

  all(): ServingCertificate[] {
    return [...this.#byOwner.values()];
  }
}
