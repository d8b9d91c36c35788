import type { AdmissionDecision } from './admission-decision.ts';
import type { AdmissionRequest, ReviewVersion } from './admission-request.ts';
import { nameForPeople } from './pod-name.ts';
import type { ReviewBytes } from './review-bytes.ts';

/** A decision and all that it came from. */
export interface RememberedDecision {
  /** The request that was decided; what is kept of it has no objects. */
  readonly request: AdmissionRequest;
  /** What is kept of it has no patch, which would hold on to the whole pod. */
  readonly decision: AdmissionDecision;
  /** The answer as JSON, from behind the uid on. */
  readonly encoded: string;
}

interface Entry extends RememberedDecision {
  readonly version: ReviewVersion;
  readonly path: string;
  /** The bytes of the review behind its uid. */
  readonly rest: Buffer;
  readonly dependencies: readonly unknown[];
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
  /** Fingerprints that were seen once, each in the slot of its last bits. */
  readonly #seen = new Int32Array(4096);
  #bytes = 0;

  constructor(limits: DecisionMemoryLimits) {
    this.#limits = limits;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param dependencies what the decision for the remembered request would depend on now */
  find(
    path: string,
    body: Buffer,
    review: ReviewBytes,
    dependencies: (request: AdmissionRequest) => readonly unknown[],
  ): RememberedDecision | undefined {
    const fingerprint = fingerprintOf(path, body, review.restStart);
    const entry = this.#entries.get(fingerprint);
    if (entry?.path !== path || entry.version !== review.version) return undefined;
    if (body.compare(entry.rest, 0, entry.rest.length, review.restStart) !== 0) return undefined;
    const now = dependencies(entry.request);
    if (!entry.dependencies.every((each, index) => each === now[index])) return undefined;
    this.#entries.delete(fingerprint);
    this.#entries.set(fingerprint, entry);
    return entry;
  }

  /** @param dependencies what the decision depended on when it was made */
  remember(
    path: string,
    body: Buffer,
    review: ReviewBytes,
    dependencies: readonly unknown[],
    made: RememberedDecision,
  ): void {
    if (body.length > this.#limits.maxReviewBytes) return;
    const fingerprint = fingerprintOf(path, body, review.restStart);
    const slot = fingerprint & (this.#seen.length - 1);
    if (this.#seen[slot] !== fingerprint) {
      this.#seen[slot] = fingerprint;
      return;
    }
    this.#forget(fingerprint);
    const rest = Buffer.from(body.subarray(review.restStart));
    const entry: Entry = { ...withoutObjects(made), version: review.version, path, rest, dependencies };
    this.#entries.set(fingerprint, entry);
    this.#bytes += sizeOf(entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limits.maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(fingerprint: number): void {
    const entry = this.#entries.get(fingerprint);
    if (entry === undefined) return;
    this.#entries.delete(fingerprint);
    this.#bytes -= sizeOf(entry);
  }
}

function withoutObjects({ request, decision, encoded }: RememberedDecision): RememberedDecision {
  return {
    request: { ...request, name: nameForPeople(request), object: null, oldObject: null },
    decision: { ...decision, patch: [] },
    encoded,
  };
}

function sizeOf(entry: Entry): number {
  return entry.rest.length + 2 * entry.encoded.length;
}

/** How many words of a review go into its fingerprint. */
const samples = 64;

/** A number that differs for most reviews, from their length and words spread over them: FNV-1a over 32 bits. */
function fingerprintOf(path: string, body: Buffer, start: number): number {
  let hash = 0x811c9dc5 ^ body.length;
  for (let index = 0; index < path.length; index++) hash = Math.imul(hash ^ path.charCodeAt(index), 0x01000193);
  const last = body.length - 4;
  const stride = Math.max(4, Math.floor((last - start) / samples));
  for (let index = start; index <= last; index += stride) hash = Math.imul(hash ^ body.readInt32LE(index), 0x01000193);
  return hash;
}
