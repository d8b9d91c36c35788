const mebibyte = 1024 * 1024;

/** The limits of the listener. Sizes in bytes, times in milliseconds. */
export const defaultAdmissionLimits = {
  /** At least 19 MiB: the review of a storable pod takes 17.4 MB in a dry run (Go escapes `<`). */
  maxBodyBytes: 20 * mebibyte,
  /** The total of all bodies in transfer: two of the largest, or thousands of usual size. */
  maxBufferedBytes: 40 * mebibyte,
  /** The number of bodies in transfer. Beyond it, the server refuses the oldest. */
  maxConcurrentBodies: 1024,
  decisions: { maxBytes: 16 * mebibyte, maxReviewBytes: 256 * 1024 },
  /** The number of connections, proven and unproven; see {@link ConnectionGuard}. */
  maxConnections: 4096,
  /**
   * The number of unproven connections. Beyond it, the server closes the oldest. Do not set it too
   * low: a client that reconnects costs a handshake, which is far more expensive than an idle
   * connection.
   */
  maxUnprovenConnections: 1536,
  maxHeaderBytes: 16 * 1024,
  /** Above the depth of any pod, below a stack overflow; a pod of 3 MiB has fewer values. */
  jsonBounds: { maxDepth: 200, maxValues: 500_000 },
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  /** The time to receive a body; the request's `?timeout=` applies if it is shorter. */
  bodyTimeout: 30_000,
  /** The time after bodyTimeout in which the client must read its answer. */
  answerTimeout: 10_000,
  /** Above the API server's 90 s for idle connections, because the client must close first. */
  keepAliveTimeout: 150_000,
  /** Answers per connection. If finite, API servers reconnect and so reach new replicas. */
  requestsPerConnection: Infinity,
  /** The time and bytes to read after refusing a body; a reset would lose the answer. */
  lingerTimeout: 2_000,
  lingerBytes: 32 * mebibyte,
};

export type AdmissionLimits = Readonly<typeof defaultAdmissionLimits>;
