import { ApiError } from '../../kube/api-error.ts';

/**
 * What a write that came to nothing says of the workload, as `status.restarts.waiting` has it.
 * - `Refused`: said of this object and not of the moment, before anything was written.
 * - `Conflict`: it is not the version that was read any more, or it is gone.
 * - `Failed`: anything else, of which nobody can tell whether another workload would fare better.
 */
export interface FailedWrite {
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
