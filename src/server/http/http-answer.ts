/** An HTTP answer, created without a socket and written by the listener. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether to close the connection, so that the next request can reach another replica. */
  readonly close: boolean;
}

/** Returns a plain text answer. The API server includes the text in its error message. */
export function textAnswer(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers },
    body: `${message}\n`,
    close: true,
  };
}

/** Returns an answer with status 200 and a JSON body. */
export function jsonAnswer(body: string): HttpAnswer {
  return { status: 200, headers: jsonHeaders, body, close: false };
}

/** The headers of every {@link jsonAnswer}. */
export const jsonHeaders = { 'Content-Type': 'application/json' };

/**
 * Returns a 503 with Retry-After. The API server retries on a new connection after a second, up to
 * ten times within the webhook's timeout (client-go honors an integer Retry-After on any 5xx).
 */
export function unavailable(message: string): HttpAnswer {
  return textAnswer(503, message, { 'Retry-After': '1' });
}
