const mebibyte = 1024 * 1024;

/** The limits of the listener, with sizes in bytes and times in milliseconds. */
export const defaultAdmissionLimits = {
  /** At least 19 MiB: the review of a pod can take 17.4 MB in a dry run, because Go escapes `<`. */
  maxBodyBytes: 20 * mebibyte,
  /** The total size of all bodies in transfer: two of the largest, or thousands of usual size. */
  maxBufferedBytes: 40 * mebibyte,
  /** The maximum number of bodies in transfer. Beyond it, the server refuses the oldest body. */
  maxConcurrentBodies: 1024,
  decisions: { maxBytes: 16 * mebibyte, maxReviewBytes: 256 * 1024 },
  /** The maximum number of connections, proven and unproven; see {@link ConnectionGuard}. */
  maxConnections: 4096,
  /**
   * The maximum number of unproven connections. Beyond it, the server closes the oldest connection.
   * Keep the maximum high: a client that reconnects costs a handshake, which is far more expensive
   * than an idle connection.
   */
  maxUnprovenConnections: 1536,
  maxHeaderBytes: 16 * 1024,
  /** No pod of 3 MiB exceeds these bounds. The stack can hold `maxDepth` levels. */
  jsonBounds: { maxDepth: 200, maxValues: 500_000 },
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  /** The time to receive a body; the request's `?timeout=` applies if it is shorter. */
  bodyTimeout: 30_000,
  /** The time after bodyTimeout in which the client must read the answer. */
  answerTimeout: 10_000,
  /** The time to keep an idle connection. API servers must close first; they do after 90 s. */
  keepAliveTimeout: 150_000,
  /** The number of answers per connection. A finite number lets clients find new replicas. */
  requestsPerConnection: Infinity,
  /** The time to continue reading a refused body; a reset would lose the answer. */
  lingerTimeout: 2_000,
  /** The maximum number of bytes to read during lingerTimeout. */
  lingerBytes: 32 * mebibyte,
};

export type AdmissionLimits = Readonly<typeof defaultAdmissionLimits>;
