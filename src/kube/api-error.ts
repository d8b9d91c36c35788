/**
 * A failed request. `code` is the HTTP status, or 0 if there is no usable response. With code 0,
 * `reason` is `Unreachable`, `Timeout` or `Malformed`; otherwise it is metav1.Status.reason:
 * `NotFound`, `Conflict`, `Invalid`, `Expired`, `Forbidden` …
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  /** The seconds to wait before the next request, from the Retry-After header. */
  readonly retryAfter: number | undefined;
  /** metav1.Status.details.causes, which `Invalid` and server-side apply `Conflict` errors have. */
  readonly causes: readonly StatusCause[];

  constructor(
    failure: Pick<ApiError, 'code' | 'reason' | 'message'> & Partial<Pick<ApiError, 'retryAfter' | 'causes'>>,
    options?: ErrorOptions,
  ) {
    super(failure.message, options);
    this.code = failure.code;
    this.reason = failure.reason;
    this.retryAfter = failure.retryAfter;
    this.causes = failure.causes ?? [];
  }
}

/** metav1.StatusCause. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** Makes the error for a request whose response is missing or cannot be parsed. */
export function noAnswer(reason: 'Unreachable' | 'Timeout' | 'Malformed', message: string, cause?: unknown): ApiError {
  return new ApiError({ code: 0, reason, message }, { cause });
}

/** Returns the text for a log line from any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For `catch`: returns undefined for a missing object; throws every other error again. */
export function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** Reports whether the object (or, for a discovery request, the resource) does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 404;
}

/** Reports code 409: the object exists or has changed, or another manager owns a field. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409;
}

/** Reports whether a resourceVersion or continue token is too old and a new list is needed. */
export function isExpired(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}
