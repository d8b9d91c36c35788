import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { ApiError, noAnswer, type StatusCause } from './api-error.ts';
import { unreachable } from './transport.ts';

/** The body as text; a connection that breaks, or a body that takes too long, is an {@link ApiError}. */
export async function readBody(
  response: IncomingMessage,
  host: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<string> {
  const late = setTimeout(
    () => response.destroy(noAnswer('Timeout', `the answer from ${host} did not end within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    throw brokenStream(error, host, signal);
  } finally {
    clearTimeout(late);
  }
}

/**
 * The JSON documents of a stream, one per line, as the API server sends watch events.
 * A last line without its newline is an event cut in the middle and is dropped: the watch resumes before it.
 */
export async function* jsonLines(stream: Readable): AsyncGenerator {
  let pending: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pending.push(chunk.subarray(start, end));
      const line = Buffer.concat(pending).toString('utf8');
      pending = [];
      start = end + 1;
      if (line.trim() !== '') yield JSON.parse(line) as unknown;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
}

/** Why a body ended early: the signal's reason when aborted, an {@link ApiError} for a broken connection. */
export function brokenStream(error: unknown, host: string, signal?: AbortSignal): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof SyntaxError) return malformed(host, error);
  return error instanceof ApiError || !(error instanceof Error) ? error : unreachable(host, error);
}

/** The JSON of an answer. @throws ApiError (`Malformed`) for anything else, as a proxy in between may send */
export function parseJson(text: string, host: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw malformed(host, error);
  }
}

function malformed(host: string, cause: unknown): ApiError {
  return noAnswer('Malformed', `the answer from ${host} is not JSON`, cause);
}

/** metav1.Status, or whatever stands in its place (a proxy's page), as an {@link ApiError}. */
export function statusError(answer: unknown, what: string, httpStatus?: number, retryAfter?: string): ApiError {
  const status = (typeof answer === 'object' && answer !== null ? answer : {}) as {
    code?: number;
    reason?: string;
    message?: string;
    details?: { causes?: StatusCause[]; retryAfterSeconds?: number };
  };
  const code = httpStatus ?? status.code ?? 0;
  const seconds = retryAfter === undefined ? status.details?.retryAfterSeconds : Number.parseInt(retryAfter, 10);
  const text = typeof answer === 'string' ? answer.trim().slice(0, 200) : '';
  return new ApiError({
    code,
    reason: status.reason ?? `HTTP ${code}`,
    message: status.message ?? `${what}: HTTP ${code}${text === '' ? '' : `: ${text}`}`,
    retryAfter: seconds === undefined || Number.isNaN(seconds) ? undefined : seconds,
    causes: status.details?.causes ?? [],
  });
}
