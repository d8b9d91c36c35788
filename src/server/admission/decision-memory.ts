import { crc32 } from 'node:zlib';
import { type AdmissionDecision, type AdmissionRequest, withoutObjects } from './admission-decision.ts';
import { type ReviewBytes, splitReview } from './review-bytes.ts';

/** A decision and all that it came from. */
export interface RememberedDecision {
  /** The request that was decided; what is kept of it has no objects. */
  readonly request: AdmissionRequest;
  /** What is kept of it has no patch, which would hold on to the whole pod. */
  readonly decision: AdmissionDecision;
  /** The answer as JSON, from behind the uid on. */
  readonly encoded: string;
}

interface Entry {
  readonly place: string;
  /** The bytes of the review behind its uid. */
  readonly rest: Buffer;
  readonly dependencies: readonly unknown[];
  readonly made: RememberedDecision;
}

/** A review as it arrived. */
export interface ReviewQuestion extends ReviewBytes {
  /** Path and version. */
  readonly place: string;
  /** 32 bits of place and rest: says fast that two questions differ. */
  readonly fingerprint: number;
}

/** What a review could be known by; undefined when it is not written as the API server writes it. */
export function questionOf(path: string, body: Buffer): ReviewQuestion | undefined {
  const bytes = splitReview(body);
  if (bytes === undefined) return undefined;
  const place = `${bytes.version} ${path}`;
  return { ...bytes, place, fingerprint: crc32(bytes.rest, crc32(place)) };
}

export interface DecisionMemoryLimits {
  /** Bytes of reviews and answers together. */
  readonly maxBytes: number;
  /** Larger reviews are not remembered. */
  readonly maxReviewBytes: number;
}

/**
 * Decisions that can be given again. All pods of a ReplicaSet arrive as the same bytes but for the uid; a decision for the same bytes on the same path, with
 * everything else that it depends on still the very same objects, is the same decision. Bytes are compared in full, never by a hash alone.
 * A review is remembered when it comes for the second time, so that pods that come once cost next to nothing. The least recently used goes first.
 */
export class DecisionMemory {
  readonly #limits: DecisionMemoryLimits;
  /** By fingerprint, in order of use. */
  readonly #entries = new Map<number, Entry>();
  /** Fingerprints of reviews that were seen once, each in the slot of its last bits: 16 KiB, however many pods come once. */
  readonly #seen = new Uint32Array(4096);
  #bytes = 0;

  constructor(limits: DecisionMemoryLimits) {
    this.#limits = limits;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a review of so many bytes is worth asking about. */
  takes(bytes: number): boolean {
    return bytes <= this.#limits.maxReviewBytes;
  }

  /** @param dependencies what a decision depends on now */
  find({ place, fingerprint, rest }: ReviewQuestion, dependencies: readonly unknown[]): RememberedDecision | undefined {
    const entry = this.#entries.get(fingerprint);
    if (entry?.place !== place || !rest.equals(entry.rest)) return undefined;
    if (!entry.dependencies.every((each, index) => each === dependencies[index])) return undefined;
    this.#entries.delete(fingerprint);
    this.#entries.set(fingerprint, entry);
    return entry.made;
  }

  /** @param dependencies what the decision depended on when it was made */
  remember(question: ReviewQuestion, dependencies: readonly unknown[], made: RememberedDecision): void {
    const { place, fingerprint, rest } = question;
    if (!this.takes(rest.length)) return;
    const slot = fingerprint % this.#seen.length;
    if (this.#seen[slot] !== fingerprint) {
      this.#seen[slot] = fingerprint;
      return;
    }
    this.#forget(fingerprint);
    const { request, decision, encoded } = made;
    const kept = { request: withoutObjects(request), decision: { ...decision, patch: [] }, encoded };
    const entry = { place, rest: Buffer.from(rest), dependencies, made: kept };
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

function sizeOf({ rest, made }: Entry): number {
  return rest.length + 2 * made.encoded.length;
}
