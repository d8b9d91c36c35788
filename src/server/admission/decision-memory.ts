import { crc32 } from 'node:zlib';
import { type AdmissionDecision, type AdmissionRequest, withoutObjects } from './admission-decision.ts';
import { type ReviewBytes, splitReview } from './review-bytes.ts';

export interface RememberedDecision {
  /** The decided request. The cache removes its objects. */
  readonly request: AdmissionRequest;
  /** The decision. The cache removes its patch, which would keep the whole pod in memory. */
  readonly decision: AdmissionDecision;
  /** The JSON of the answer after the uid. */
  readonly encoded: string;
}

interface Entry {
  readonly endpoint: string;
  /** The bytes of the review after its uid. */
  readonly rest: Buffer;
  readonly dependencies: readonly unknown[];
  readonly decided: RememberedDecision;
}

/** The cache key of a review. */
export interface ReviewKey extends ReviewBytes {
  /** The version and path. */
  readonly endpoint: string;
  /** A checksum of `endpoint` and `rest`, which makes lookups fast. */
  readonly fingerprint: number;
}

/** Returns the key of a review; undefined if its bytes do not have the API server's form. */
export function decisionKey(path: string, body: Buffer): ReviewKey | undefined {
  const bytes = splitReview(body);
  if (bytes === undefined) return undefined;
  const endpoint = `${bytes.version} ${path}`;
  return { ...bytes, endpoint, fingerprint: crc32(bytes.rest, crc32(endpoint)) };
}

export interface DecisionMemoryLimits {
  /** The total size of reviews and answers. */
  readonly maxBytes: number;
  /** Larger reviews are not cached. */
  readonly maxReviewBytes: number;
}

/**
 * A cache of decisions. All pods of a ReplicaSet arrive as the same bytes except for the uid, and
 * get the same decision on the same path while the dependencies are identical objects. Compares all
 * bytes, not only a hash. Caches a review when it arrives for the second time, so that unique pods
 * cost little. Evicts the least recently used entry first.
 */
export class DecisionMemory {
  readonly #limits: DecisionMemoryLimits;
  /** The entries by fingerprint; the least recently used entry is first. */
  readonly #entries = new Map<number, Entry>();
  /** Fingerprints of reviews that were seen once, by slot; always 16 KiB. */
  readonly #seen = new Uint32Array(4096);
  #bytes = 0;

  constructor(limits: DecisionMemoryLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Reports whether a review of this size can be cached. */
  accepts(bytes: number): boolean {
    return bytes <= this.#limits.maxReviewBytes;
  }

  /** @param dependencies the current dependencies */
  find({ endpoint, fingerprint, rest }: ReviewKey, dependencies: readonly unknown[]): RememberedDecision | undefined {
    const entry = this.#entries.get(fingerprint);
    if (entry?.endpoint !== endpoint || !rest.equals(entry.rest)) return undefined;
    if (!entry.dependencies.every((each, index) => each === dependencies[index])) return undefined;
    this.#entries.delete(fingerprint);
    this.#entries.set(fingerprint, entry);
    return entry.decided;
  }

  /** @param dependencies the dependencies at the time of the decision */
  remember(key: ReviewKey, dependencies: readonly unknown[], decided: RememberedDecision): void {
    const { endpoint, fingerprint, rest } = key;
    if (!this.accepts(rest.length)) return;
    const slot = fingerprint % this.#seen.length;
    if (this.#seen[slot] !== fingerprint) {
      this.#seen[slot] = fingerprint;
      return;
    }
    this.#forget(fingerprint);
    const { request, decision, encoded } = decided;
    const kept = { request: withoutObjects(request), decision: { ...decision, patch: [] }, encoded };
    const entry = { endpoint, rest: Buffer.from(rest), dependencies, decided: kept };
    this.#entries.set(fingerprint, entry);
    this.#bytes += sizeOf(entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limits.maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(fingerprint: number): void {
    const entry = this.#entries.get(fingerprint);
    if (entry !== undefined) this.#bytes -= sizeOf(entry);
    this.#entries.delete(fingerprint);
  }
}

function sizeOf({ rest, decided }: Entry): number {
  return rest.length + 2 * decided.encoded.length;
}
