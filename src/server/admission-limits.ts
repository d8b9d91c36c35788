const mebibyte = 1024 * 1024;

/** Bounds of the listener. Sizes in bytes, times in milliseconds. */
export const defaultAdmissionLimits = {
  /** A storable pod can be 8.7 MB as a review and 17.4 MB as a dry run (Go escapes `<` to six bytes), so never below 19 MiB. */
  maxBodyBytes: 20 * mebibyte,
  /** All bodies that are being received, together: two of the largest, or thousands of the usual ones. */
  maxBufferedBytes: 40 * mebibyte,
  /** Bodies that are being received at once; one more, and the longest-waiting of them is refused. */
  maxConcurrentBodies: 1024,
  decisions: { maxBytes: 16 * mebibyte, maxReviewBytes: 256 * 1024 },
  /** All of them. Those that are not set aside for unproven ones are kept after a review was answered on them; where none is left, the answer ends its connection. */
  maxConnections: 4096,
  /**
   * Connections that have not had a review answered yet: beyond it the oldest of them is closed. Not too low: a client that comes back at once costs a handshake,
   * which is far dearer than an idle connection.
   */
  maxUnprovenConnections: 1536,
  maxHeaderBytes: 16 * 1024,
  /** The depth is far above any pod's and far below what overflows a stack; a pod of 3 MiB, the most that the API server takes, has fewer values. */
  jsonBounds: { maxDepth: 200, maxValues: 500_000 },
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  /** A body must be complete by then, or by the request's own `?timeout=` if that is sooner. */
  bodyTimeout: 30_000,
  /** After the time for the body: a client that has not read its answer by then is cut off. */
  answerTimeout: 10_000,
  /** Above the 90 s after which the API server drops an idle connection: the side that sends must be the one that closes. */
  keepAliveTimeout: 150_000,
  /** So many answers, and the last of them ends its connection: an API server otherwise stays where it is, and a new replica gets nothing. Infinity for no end. */
  requestsPerConnection: Infinity,
  /** How long, and how much, is still read of a body that is refused, so that the refusal is not lost to a connection reset. */
  lingerTimeout: 2_000,
  lingerBytes: 32 * mebibyte,
};

export type AdmissionLimits = Readonly<typeof defaultAdmissionLimits>;
