import type { RestartHold } from '../../rollout/restart-candidate.ts';
import type { WorkloadLookup } from './restart-candidates.ts';
import { recordedWorkload, type WorkloadRecord } from './workload-record.ts';
import { ImageNotPulled } from '../in-place/image-pulls.ts';
import { ApiError } from '../../kube/api-error.ts';

/** A restart whose write failed. */
export interface FailedRestart extends FailedWrite {
  /** The configuration that new pods were to get, as `N.<hash8>`. */
  readonly target: string;
  readonly message: string;
  /** How long the write took, in milliseconds. */
  readonly took: number;
  /** The workload as it was before the write. */
  readonly record: WorkloadRecord;
}

interface Known extends FailedRestart {
  /** The time of the failure, according to `clock.monotonic`. */
  readonly at: number;
  /** The number of consecutive failures for the same reason. */
  readonly times: number;
}

/**
 * The minimum back-off of a workload, in milliseconds: always 60 s for `Refused` and `NotPulled`;
 * 1, 2, 4 ... 60 s for `Conflict`; 2, 4, 8, 15 s for `Pulling`; 5, 20, 80 ... 600 s for `Failed`.
 * From the third `Failed` on, it exceeds {@link uncertainMs}, so the workload stops counting
 * against the bounds before the next attempt.
 */
const backOff = {
  Refused: { initial: 60_000, factor: 1, max: 60_000 },
  NotPulled: { initial: 60_000, factor: 1, max: 60_000 },
  Pulling: { initial: 2000, factor: 2, max: 15_000 },
  Conflict: { initial: 1000, factor: 2, max: 60_000 },
  Failed: { initial: 5000, factor: 4, max: 600_000 },
} as const;
/** The interval between passes, in milliseconds. */
const passMs = 1000;
/** Retries may take at most 1 / `retryShare` of the attempts and of the time. */
const retryShare = 2;
/** How long the API server may still store a failed write: its --request-timeout, in ms. */
const uncertainMs = 60_000;
/** How long to keep an entry after its back-off, in milliseconds. */
const forgetAfterMs = 3_600_000;
/** The number of failures in a namespace from which its other workloads probably fail too. */
const manyInNamespace = 3;
/** The maximum length of a message, in characters: some policies return pages of text. */
const maxMessageLength = 512;

/**
 * The restarts whose write failed, with a back-off for each workload, so that no failure blocks
 * other workloads. A namespace with many failures comes last. Many failures in the cluster make
 * each back-off longer.
 */
export class FailedRestarts {
  readonly #monotonic: () => number;
  /** The last failure of each workload, by `workloadKey`. */
  readonly #known = new Map<string, Known>();
  /** The time that one retry of each workload would take, in milliseconds. */
  #cost = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Records a failed write. */
  add(key: string, failure: FailedRestart): void {
    const at = this.#monotonic();
    for (const [each, known] of this.#known) if (at >= this.#backOffUntil(known) + forgetAfterMs) this.resolve(each);
    const before = this.#known.get(key);
    const times = before?.reason === failure.reason ? before.times + 1 : 1;
    this.resolve(key);
    // If the cut splits a surrogate pair, replace the remaining half.
    const message = Buffer.from(failure.message.slice(0, maxMessageLength)).toString();
    const known = { ...failure, message, at, times };
    this.#known.set(key, known);
    this.#cost += costOf(known);
  }

  /** Forgets a workload that was restarted. */
  resolve(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.#cost -= costOf(known);
  }

  /**
   * Returns why a workload must wait; undefined if the operator may try to restart it now. Another
   * target may succeed, unless the API server may still store the failed write.
   */
  holdOf(key: string, target: string): RestartHold | undefined {
    const known = this.#known.get(key);
    if (known === undefined || this.#monotonic() >= this.#backOffUntil(known)) return undefined;
    if (known.target !== target && !known.isUncertain) return undefined;
    return { reason: known.reason, message: known.message, isFailure: !isQuiet(known) };
  }

  /** Returns the namespaces whose workloads should come last. */
  lastNamespaces(): ReadonlySet<string> {
    const failures = new Map<string, number>();
    for (const known of this.#known.values()) {
      const { namespace = '' } = known.record.metadata;
      // A conflict does not predict other failures.
      if (!isQuiet(known)) failures.set(namespace, (failures.get(namespace) ?? 0) + 1);
    }
    return new Set([...failures].filter(([, count]) => count >= manyInNamespace).map(([namespace]) => namespace));
  }

  /**
   * Returns the workloads, by key, as read before failed writes that may have restarted them.
   * @param followed returns the watched version; a newer version shows whether the write is stored
   */
  uncertain(followed: WorkloadLookup['get']): ReadonlyMap<string, WorkloadRecord> {
    const now = this.#monotonic();
    const found = new Map<string, WorkloadRecord>();
    for (const [key, { isUncertain, at, record }] of this.#known) {
      if (!isUncertain || now >= at + uncertainMs) continue;
      const { kind, namespace, name } = recordedWorkload(record);
      const present = followed(kind, namespace, name)?.metadata;
      if (present?.uid === record.metadata.uid && present?.resourceVersion === record.metadata.resourceVersion) {
        found.set(key, record);
      }
    }
    return found;
  }

  #backOffUntil(known: Known): number {
    const { reason, at, times } = known;
    const { initial, factor, max } = backOff[reason];
    const alone = Math.min(initial * factor ** Math.min(times - 1, 30), max);
    return at + (isQuiet(known) ? alone : Math.max(alone, retryShare * this.#cost));
  }
}

/** Reports whether a write is only delayed, so that no user has to act. */
export function isQuiet({ reason }: Pick<FailedWrite, 'reason'>): boolean {
  return reason === 'Conflict' || reason === 'Pulling';
}

/** Returns the time that one retry would take, in milliseconds. A delay takes little time. */
function costOf(known: Known): number {
  return isQuiet(known) ? 0 : known.took + passMs;
}

/**
 * The result of a failed write. `reason` appears in `status.restarts.waiting`.
 * - `Refused`: the API server rejected this object; nothing was written.
 * - `Conflict`: the workload has changed since the operator read it, or was deleted.
 * - `Pulling`, `NotPulled`: the node of a pod does not have its new image; nothing was written.
 * - `Failed`: any other failure, whether or not the workload is its cause.
 */
interface FailedWrite {
  readonly reason: 'Refused' | 'Conflict' | 'Failed' | ImageNotPulled['reason'];
  /** Whether this write or an earlier one may have restarted the workload. */
  readonly isUncertain: boolean;
}

/**
 * Classifies an error of a write. Returns undefined if the workload is not the cause: this process
 * no longer leads, the API server throttles (429), or the error is not an API error.
 */
export function failedWrite(error: unknown): FailedWrite | undefined {
  if (error instanceof ImageNotPulled) return { reason: error.reason, isUncertain: false };
  if (!(error instanceof ApiError) || error.reason === 'NotLeading') return undefined;
  const { code, message } = error;
  // A webhook may deny with any code; a ValidatingAdmissionPolicy uses one of four codes.
  const isDenied = /\bdenied (the )?request\b/.test(message);
  // The API server could not call another webhook, or that webhook timed out.
  const isUnanswered = code === 500 && message.includes('failed calling webhook');
  if (isDenied || isUnanswered) return { reason: 'Refused', isUncertain: false };
  if (code === 429) return undefined;
  // The other write may be a former leader's, or our own if its response was lost.
  if (code === 404 || code === 409) return { reason: 'Conflict', isUncertain: code === 409 };
  if ([400, 403, 413, 422].includes(code)) return { reason: 'Refused', isUncertain: false };
  // After a lost response or a storage timeout, the write may be stored.
  return { reason: 'Failed', isUncertain: code === 0 || code >= 500 };
}
