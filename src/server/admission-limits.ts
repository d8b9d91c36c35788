import type { DecisionMemoryLimits } from './admission/decision-memory.ts';
import type { JsonBounds } from './admission/json-scanner.ts';

/** Bounds of the listener. Sizes in bytes, times in milliseconds. */
export interface AdmissionLimits {
  /** A storable pod can be 8.7 MB as a review and 17.4 MB as a dry run (Go escapes `<` to six bytes), so never below 19 MiB. */
  readonly maxBodyBytes: number;
  /** All bodies that are being received, together: two of the largest, or thousands of the usual ones. */
  readonly maxBufferedBytes: number;
  /** Bodies that are being received at once; one more, and the longest-waiting of them is refused. */
  readonly maxConcurrentBodies: number;
  readonly decisions: DecisionMemoryLimits;
  /** All of them. Those that are not set aside for unproven ones are kept after a review was answered on them; where none is left, the answer ends its connection. */
  readonly maxConnections: number;
  /**
   * Connections that have not had a review answered yet: beyond it the oldest of them is closed. Not too low: a client that comes back at once costs a handshake,
   * which is far dearer than an idle connection.
   */
  readonly maxUnprovenConnections: number;
  readonly maxHeaderBytes: number;
  /** The depth is far above any pod's and far below what overflows a stack; a pod of 3 MiB, the most that the API server takes, has fewer values. */
  readonly jsonBounds: JsonBounds;
  readonly handshakeTimeout: number;
  readonly headersTimeout: number;
  /** A body must be complete by then, or by the request's own `?timeout=` if that is sooner. */
  readonly bodyTimeout: number;
  /** After the time for the body: a client that has not read its answer by then is cut off. */
  readonly answerTimeout: number;
  /** Above the 90 s after which the API server drops an idle connection: the side that sends must be the one that closes. */
  readonly keepAliveTimeout: number;
  /** So many answers, and the last of them ends its connection: an API server otherwise stays where it is, and a new replica gets nothing. Infinity for no end. */
  readonly requestsPerConnection: number;
  /** How long, and how much, is still read of a body that is refused, so that the refusal is not lost to a connection reset. */
  readonly lingerTimeout: number;
  readonly lingerBytes: number;
}

const mebibyte = 1024 * 1024;

export const defaultAdmissionLimits: AdmissionLimits = {
  maxBodyBytes: 20 * mebibyte,
  maxBufferedBytes: 40 * mebibyte,
  maxConcurrentBodies: 1024,
  decisions: { maxBytes: 16 * mebibyte, maxReviewBytes: 256 * 1024 },
  maxConnections: 4096,
  maxUnprovenConnections: 1536,
  maxHeaderBytes: 16 * 1024,
  jsonBounds: { maxDepth: 200, maxValues: 500_000 },
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  bodyTimeout: 30_000,
  answerTimeout: 10_000,
  keepAliveTimeout: 150_000,
  requestsPerConnection: Infinity,
  lingerTimeout: 2_000,
  lingerBytes: 32 * mebibyte,
};
