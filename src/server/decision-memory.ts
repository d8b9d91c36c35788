import { crc32 } from 'node:zlib';
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

/** A review as it arrived. */
export interface ReviewQuestion extends ReviewBytes {
  readonly path: string;
  readonly body: Buffer;
  /** Says fast that two questions differ; see {@link fingerprintOf}. */
  readonly fingerprint: number;
}

export interface DecisionMemoryLimits {
  /** Bytes of reviews and answers together. */
  readonly maxBytes: number;
  /** Larger reviews are not remembered. */
  readonly maxReviewBytes: number;
}

/** 32 bits over the path and all bytes behind the uid. Not against those who mean to collide: equality is for {@link DecisionMemory} to check. */
export function fingerprintOf(path: string, body: Buffer, restStart: number): number {
  if (path !== lastPath.path) lastPath = { path, fingerprint: crc32(path) };
  return crc32(body.subarray(restStart), lastPath.fingerprint);
}

/** Reviews come on the same path over and over. */
let lastPath = { path: '', fingerprint: 0 };

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

  /** @param dependencies what the decision for the remembered request would depend on now */
  find(
    question: ReviewQuestion,
    dependencies: (request: AdmissionRequest) => readonly unknown[],
  ): RememberedDecision | undefined {
    const { path, version, body, restStart, fingerprint } = question;
    const entry = this.#entries.get(fingerprint);
    if (entry?.path !== path || entry.version !== version) return undefined;
    if (body.compare(entry.rest, 0, entry.rest.length, restStart) !== 0) return undefined;
    const now = dependencies(entry.request);
    if (!entry.dependencies.every((each, index) => each === now[index])) return undefined;
    this.#entries.delete(fingerprint);
    this.#entries.set(fingerprint, entry);
    return entry;
  }

  /** @param dependencies what the decision depended on when it was made */
  remember(question: ReviewQuestion, dependencies: readonly unknown[], made: RememberedDecision): void {
    const { path, version, body, restStart, fingerprint } = question;
    if (!this.takes(body.length)) return;
    const slot = fingerprint & (this.#seen.length - 1);
    if (this.#seen[slot] !== fingerprint) {
      this.#seen[slot] = fingerprint;
      return;
    }
    this.#forget(fingerprint);
    const rest = Buffer.from(body.subarray(restStart));
    const entry: Entry = { ...withoutObjects(made), version, path, rest, dependencies };
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
