import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { ApiError, noAnswer, type StatusCause } from './api-error.ts';
import { unreachable } from './transport.ts';

/** Reads the body as text. @throws ApiError when the connection breaks or the time limit passes */
export async function readBody(
  response: IncomingMessage,
  host: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<string> {
  const timer = setTimeout(
    () => response.destroy(noAnswer('Timeout', `the response from ${host} did not end within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    throw brokenStream(error, host, signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Yields the JSON documents of a stream, one per line. Drops a last line without a newline: it is a
 * truncated event, which the resumed watch repeats.
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

/** Converts the error of a broken body to the abort reason of the signal or an {@link ApiError}. */
export function brokenStream(error: unknown, host: string, signal?: AbortSignal): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof SyntaxError) return malformed(host, error);
  return error instanceof ApiError || !(error instanceof Error) ? error : unreachable(host, error);
}

/** Parses a JSON response. @throws ApiError (`Malformed`) for other text, e.g. a proxy's page */
export function parseJson(text: string, host: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw malformed(host, error);
  }
}

function malformed(host: string, cause: unknown): ApiError {
  return noAnswer('Malformed', `the response from ${host} is not JSON`, cause);
}

/** Converts a metav1.Status, or a proxy's error page, to an {@link ApiError}. */
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
