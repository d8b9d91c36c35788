/** What goes back over the wire: decided without a socket, written by the listener. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Answer with `Connection: close`, so that the client's next request meets another replica. */
  readonly close: boolean;
}

/** A plain text answer, for everything that is not an answered AdmissionReview; the API server puts the text into its error. */
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

/** An answered AdmissionReview, or other JSON. */
export function jsonAnswer(body: string): HttpAnswer {
  return { status: 200, headers: jsonHeaders, body, close: false };
}

/** Of every {@link jsonAnswer}. */
export const jsonHeaders = { 'Content-Type': 'application/json' };

/**
 * 503 that the API server tries again after a second, up to ten times within the webhook's timeout (client-go honours an integer Retry-After on
 * any 5xx), and on a new connection because of `close`, so on another replica if there is one.
 */
export function unavailable(message: string): HttpAnswer {
  return textAnswer(503, message, { 'Retry-After': '1' });
}
