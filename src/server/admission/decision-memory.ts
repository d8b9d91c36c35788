import { crc32 } from 'node:zlib';
import type { AdmissionDecision } from './admission-decision.ts';
import { type AdmissionRequest, withoutObjects } from './admission-request.ts';
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
  /** The bytes of the review behind its uid. */
  readonly rest: Buffer;
  readonly dependencies: readonly unknown[];
  /** Undefined for a review that was seen once. */
  readonly made?: RememberedDecision;
}

/** A review as it arrived. */
export interface ReviewQuestion extends ReviewBytes {
  /** Says fast that two questions differ: path, version and 32 bits of the rest. {@link DecisionMemory} compares the rest. */
  readonly key: string;
}

/** What a review could be known by; undefined when it is not written as the API server writes it. */
export function questionOf(path: string, body: Buffer): ReviewQuestion | undefined {
  const bytes = splitReview(body);
  return bytes && { ...bytes, key: `${crc32(bytes.rest)} ${bytes.version} ${path}` };
}

export interface DecisionMemoryLimits {
  /** Bytes of reviews and answers together. */
  readonly maxBytes: number;
  /** Larger reviews are not remembered. */
  readonly maxReviewBytes: number;
}

/** What a review counts that was seen once, in bytes. */
const seenBytes = 128;
const seen: Entry = { rest: Buffer.alloc(0), dependencies: [] };

/**
 * Decisions that can be given again. All pods of a ReplicaSet arrive as the same bytes but for the uid; a decision for the same bytes on the same path, with
 * everything else that it depends on still the very same objects, is the same decision. Bytes are compared in full, never by a hash alone.
 * A review is remembered when it comes for the second time, so that pods that come once cost next to nothing. The least recently used goes first.
 */
export class DecisionMemory {
  readonly #limits: DecisionMemoryLimits;
  /** By key, in order of use. */
  readonly #entries = new Map<string, Entry>();
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
  find({ key, rest }: ReviewQuestion, dependencies: readonly unknown[]): RememberedDecision | undefined {
    const entry = this.#entries.get(key);
    if (entry?.made === undefined || !rest.equals(entry.rest)) return undefined;
    if (!entry.dependencies.every((each, index) => each === dependencies[index])) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.made;
  }

  /** @param dependencies what the decision depended on when it was made */
  remember({ key, rest }: ReviewQuestion, dependencies: readonly unknown[], made: RememberedDecision): void {
    if (!this.takes(rest.length)) return;
    const entry = this.#forget(key) ? { rest: Buffer.from(rest), dependencies, made: withoutPod(made) } : seen;
    this.#entries.set(key, entry);
    this.#bytes += sizeOf(entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limits.maxBytes) return;
      this.#forget(oldest);
    }
  }

  /** @returns whether it was known */
  #forget(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#bytes -= sizeOf(entry);
    return this.#entries.delete(key);
  }
}

function withoutPod({ request, decision, encoded }: RememberedDecision): RememberedDecision {
  return { request: withoutObjects(request), decision: { ...decision, patch: [] }, encoded };
}

function sizeOf({ rest, made }: Entry): number {
  return made === undefined ? seenBytes : rest.length + 2 * made.encoded.length;
}
