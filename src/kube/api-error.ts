/**
 * A request to the API server that did not succeed.
 * `code` is the HTTP status, or 0 when no answer came (the reason is then `Unreachable` or `Timeout`) or none that can be read (`Malformed`);
 * `reason` is metav1.Status.reason (`NotFound`, `Conflict`, `AlreadyExists`, `Invalid`, `Expired`, `Forbidden` …).
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  /** Seconds after which the server wants to be asked again (the Retry-After header), when it said so. */
  readonly retryAfter: number | undefined;
  /** metav1.Status.details: the causes of `Invalid`, the field managers of a server-side apply `Conflict`. */
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

/** No answer came, or none that can be read. */
export function noAnswer(reason: 'Unreachable' | 'Timeout' | 'Malformed', message: string, cause?: unknown): ApiError {
  return new ApiError({ code: 0, reason, message }, { cause });
}

/** What a log line says of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For `catch`: undefined for an object that does not exist; other errors are thrown again. */
export function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** True when the object (or, for a discovery request, the resource) does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 404;
}

/** True for 409: the object exists already, the resourceVersion is old, or another field manager owns a field. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409;
}

/** True when a watch's resourceVersion or a list's continue token is too old: list again. */
export function isExpired(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}
