import type { RestartHold } from '../../rollout/restart-candidate.ts';
import type { WorkloadLookup } from './restart-candidates.ts';
import { workloadOf, type WorkloadRecord } from './workload-record.ts';
import { ApiError } from '../../kube/api-error.ts';

/** A write that came to nothing. */
export interface Trouble extends FailedWrite {
  readonly message: string;
  /** How long it took. Milliseconds. */
  readonly took: number;
  /** What was to be written onto. */
  readonly record: WorkloadRecord;
}

interface Known extends Trouble {
  /** When it came to nothing, by `clock.monotonic`. */
  readonly at: number;
  /** How often in a row. */
  readonly times: number;
}

/**
 * How long a workload is left alone, by how much longer each time, and at most. Milliseconds. What has failed may have been written all the same and
 * keeps its place in the bounds for a minute ({@link uncertainMs}): the second or third wait is longer than that.
 */
const backOff = {
  Refused: { first: 60_000, factor: 1, longest: 60_000 },
  Conflict: { first: 1000, factor: 2, longest: 60_000 },
  Failed: { first: 5000, factor: 4, longest: 600_000 },
} as const;
/** Between two looks. Milliseconds. */
const lookMs = 1000;
/** At most every other try is one of a workload that has failed before, and at most half of the time goes there. */
const share = 2;
/** So long after its answer is missing a write may still be done: the API server gives up a request after a minute (--request-timeout). Milliseconds. */
const uncertainMs = 60_000;
/** What is not tried again is forgotten so long after it might have been. Milliseconds. */
const keptMs = 3_600_000;
/** Where so many fail, the next ones of that namespace will most likely as well. */
const manyInNamespace = 3;
/** Other policies answer with pages of text; of that so much goes into a status. */
const longestMessage = 512;

/**
 * The workloads whose restart could not be written, each with a back-off of its own: so one that is never written holds up nobody else. Neither do many
 * of one namespace, which come last; nor very many of all the cluster, which are left alone for longer.
 */
export class RestartTroubles {
  readonly #monotonic: () => number;
  /** By `workloadKey`. */
  readonly #known = new Map<string, Known>();
  readonly #inNamespace = new Map<string, number>();
  /** What all of them together have taken, with the looks that they have ended. Milliseconds. */
  #cost = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** A write has come to nothing. */
  add(key: string, trouble: Trouble): void {
    const at = this.#monotonic();
    for (const [each, known] of this.#known) if (at >= this.#heldUntil(known) + keptMs) this.resolve(each);
    const before = this.#known.get(key);
    const times = before?.reason === trouble.reason ? before.times + 1 : 1;
    this.resolve(key);
    // Half a character at the end becomes a whole one.
    const message = Buffer.from(trouble.message.slice(0, longestMessage)).toString();
    this.#count({ ...trouble, message, at, times }, 1);
    this.#known.set(key, { ...trouble, message, at, times });
  }

  /** A workload was restarted after all, or is none of ours any more. */
  resolve(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.#count(known, -1);
  }

  /** Why a workload is left alone now; undefined when it may be tried. */
  holdOf(key: string): RestartHold | undefined {
    const known = this.#known.get(key);
    if (known === undefined || this.#monotonic() >= this.#heldUntil(known)) return undefined;
    return { reason: known.reason, message: known.message, isFailure: known.reason !== 'Conflict' };
  }

  /** Whether others should be restarted before those of a namespace. */
  areManyIn(namespace: string): boolean {
    return (this.#inNamespace.get(namespace) ?? 0) >= manyInNamespace;
  }

  /**
   * The workloads that may have been restarted although no answer says so, by `workloadKey`: as they were before.
   * @param followed the present version of one; once there is another one than was written onto, that tells
   */
  uncertain(followed: WorkloadLookup['get']): ReadonlyMap<string, WorkloadRecord> {
    const now = this.#monotonic();
    const found = new Map<string, WorkloadRecord>();
    for (const [key, { isUncertain, at, record }] of this.#known) {
      if (!isUncertain || now >= at + uncertainMs) continue;
      const { kind, namespace, name } = workloadOf(record);
      const present = followed(kind, namespace, name)?.metadata;
      if (present?.uid === record.metadata.uid && present?.resourceVersion === record.metadata.resourceVersion) {
        found.set(key, record);
      }
    }
    return found;
  }

  #heldUntil({ reason, at, times }: Known): number {
    const { first, factor, longest } = backOff[reason];
    const alone = Math.min(first * factor ** Math.min(times - 1, 30), longest);
    return at + (reason === 'Conflict' ? alone : Math.max(alone, share * this.#cost));
  }

  #count({ reason, took, record }: Known, by: 1 | -1): void {
    // Somebody else was faster: that costs hardly anything, and says nothing of the others.
    if (reason === 'Conflict') return;
    this.#cost += by * (took + lookMs);
    const { namespace = '' } = record.metadata;
    const here = (this.#inNamespace.get(namespace) ?? 0) + by;
    if (here > 0) this.#inNamespace.set(namespace, here);
    else this.#inNamespace.delete(namespace);
  }
}

/**
 * What a write that came to nothing says of the workload, as `status.restarts.waiting` has it.
 * - `Refused`: said of this object and not of the moment, before anything was written.
 * - `Conflict`: it is not the version that was read any more, or it is gone.
 * - `Failed`: anything else, of which nobody can tell whether another workload would fare better.
 */
interface FailedWrite {
  readonly reason: 'Refused' | 'Conflict' | 'Failed';
  /** Whether it may have been restarted all the same, by this write or one before. */
  readonly isUncertain: boolean;
}

/**
 * Whether a write has failed for the sake of its workload, and how; undefined where it says nothing of that: nobody leads here any more, the API server
 * wants to be left alone for a while, or it is no answer at all.
 */
export function failedWrite(error: unknown): FailedWrite | undefined {
  if (!(error instanceof ApiError) || error.reason === 'NotLeading') return undefined;
  const { code, message } = error;
  // A webhook's denial has whatever code its author likes; a ValidatingAdmissionPolicy's one of four.
  const isDenied = /\bdenied (the )?request\b/.test(message);
  // The internal error of a webhook of somebody that cannot be called, or is too slow.
  const isUnanswered = code === 500 && message.includes('failed calling webhook');
  if (isDenied || isUnanswered) return { reason: 'Refused', isUncertain: false };
  if (code === 429) return undefined;
  // What came in between may have been a restart: an attempt of ours whose answer was lost, or one of the leader before. The watch will tell.
  if (code === 404 || code === 409) return { reason: 'Conflict', isUncertain: code === 409 };
  if ([400, 403, 413, 422].includes(code)) return { reason: 'Refused', isUncertain: false };
  // An answer that was lost, or of storage that took too long: it may have been stored.
  return { reason: 'Failed', isUncertain: code === 0 || code >= 500 };
}
