import type { RestartHold } from '../../rollout/restart-candidate.ts';
import type { WorkloadLookup } from './restart-candidates.ts';
import { workloadOf, type WorkloadRecord } from './workload-record.ts';
import { ApiError } from '../../kube/api-error.ts';

/** A failed write. */
export interface Trouble extends FailedWrite {
  readonly message: string;
  /** How long it took, in milliseconds. */
  readonly took: number;
  /** The workload as it was before the write. */
  readonly record: WorkloadRecord;
}

interface Known extends Trouble {
  /** When it failed, by `clock.monotonic`. */
  readonly at: number;
  /** The number of consecutive failures for the same reason. */
  readonly times: number;
}

/**
 * The exponential back-off of a workload, in milliseconds. The second or third one is longer than
 * {@link uncertainMs}, for which a failed write counts against the bounds: it may be stored.
 */
const backOff = {
  Refused: { initial: 60_000, factor: 1, max: 60_000 },
  Conflict: { initial: 1000, factor: 2, max: 60_000 },
  Failed: { initial: 5000, factor: 4, max: 600_000 },
} as const;
/** The interval between passes, in milliseconds. */
const passMs = 1000;
/** The inverse of the share of attempts, and of time, that retries may take: at most half. */
const retryShare = 2;
/** How long an unanswered write may still be stored: the API server's --request-timeout, in ms. */
const uncertainMs = 60_000;
/** How long after its back-off an unused entry is dropped, in milliseconds. */
const forgetAfterMs = 3_600_000;
/** The number of failures after which other workloads of a namespace will probably fail too. */
const manyInNamespace = 3;
/** The maximum length of a message in a status: some policies answer with pages of text. */
const maxMessageLength = 512;

/**
 * The failed writes, each with its own back-off, so that none blocks other workloads. A namespace
 * with many failures comes last; many failures in the cluster lengthen the back-off.
 */
export class RestartTroubles {
  readonly #monotonic: () => number;
  /** By `workloadKey`. */
  readonly #known = new Map<string, Known>();
  readonly #inNamespace = new Map<string, number>();
  /** The total cost of one retry of each, including the passes that it ends, in milliseconds. */
  #cost = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Records a failed write. */
  add(key: string, trouble: Trouble): void {
    const at = this.#monotonic();
    for (const [each, known] of this.#known) if (at >= this.#backOffUntil(known) + forgetAfterMs) this.resolve(each);
    const before = this.#known.get(key);
    const times = before?.reason === trouble.reason ? before.times + 1 : 1;
    this.resolve(key);
    // Replaces half a surrogate pair at the end.
    const message = Buffer.from(trouble.message.slice(0, maxMessageLength)).toString();
    this.#count({ ...trouble, message, at, times }, 1);
    this.#known.set(key, { ...trouble, message, at, times });
  }

  /** Forgets a workload that was restarted. */
  resolve(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.#count(known, -1);
  }

  /** Returns why a workload must wait; undefined if it may be tried now. */
  holdOf(key: string): RestartHold | undefined {
    const known = this.#known.get(key);
    if (known === undefined || this.#monotonic() >= this.#backOffUntil(known)) return undefined;
    return { reason: known.reason, message: known.message, isFailure: known.reason !== 'Conflict' };
  }

  /** Reports whether a namespace should be tried last. */
  areManyIn(namespace: string): boolean {
    return (this.#inNamespace.get(namespace) ?? 0) >= manyInNamespace;
  }

  /**
   * Returns the workloads, as before the write, that a failed write may have restarted, by key.
   * @param followed returns the current version; a newer one than the write's settles the question
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

  #backOffUntil({ reason, at, times }: Known): number {
    const { initial, factor, max } = backOff[reason];
    const alone = Math.min(initial * factor ** Math.min(times - 1, 30), max);
    return at + (reason === 'Conflict' ? alone : Math.max(alone, retryShare * this.#cost));
  }

  #count({ reason, took, record }: Known, by: 1 | -1): void {
    // A conflict is cheap, and does not predict other failures.
    if (reason === 'Conflict') return;
    this.#cost += by * (took + passMs);
    const { namespace = '' } = record.metadata;
    const here = (this.#inNamespace.get(namespace) ?? 0) + by;
    if (here > 0) this.#inNamespace.set(namespace, here);
    else this.#inNamespace.delete(namespace);
  }
}

/**
 * A failed write, with the reason in `status.restarts.waiting`.
 * - `Refused`: the API server rejected this object; nothing was written.
 * - `Conflict`: the workload changed since it was read, or is deleted.
 * - `Failed`: any other failure, which may be specific to the workload or not.
 */
interface FailedWrite {
  readonly reason: 'Refused' | 'Conflict' | 'Failed';
  /** Whether this write or an earlier one may have restarted the workload. */
  readonly isUncertain: boolean;
}

/**
 * Classifies an error of a write. Returns undefined if it is not specific to the workload: this
 * process no longer leads, the API server throttles (429), or the error is not an API error.
 */
export function failedWrite(error: unknown): FailedWrite | undefined {
  if (!(error instanceof ApiError) || error.reason === 'NotLeading') return undefined;
  const { code, message } = error;
  // A webhook denies with any code, a ValidatingAdmissionPolicy with one of four.
  const isDenied = /\bdenied (the )?request\b/.test(message);
  // The API server could not call another webhook, or it timed out.
  const isUnanswered = code === 500 && message.includes('failed calling webhook');
  if (isDenied || isUnanswered) return { reason: 'Refused', isUncertain: false };
  if (code === 429) return undefined;
  // The other write may have been a restart: ours with a lost response, or a former leader's.
  if (code === 404 || code === 409) return { reason: 'Conflict', isUncertain: code === 409 };
  if ([400, 403, 413, 422].includes(code)) return { reason: 'Refused', isUncertain: false };
  // A lost response or a storage timeout: the write may be stored.
  return { reason: 'Failed', isUncertain: code === 0 || code >= 500 };
}
