import type { AdmissionDecision, AdmissionRequest, ReviewVersion } from './admission-decision.ts';
import type { MalformedReview } from './decode-admission-review.ts';
import type { HttpAnswer } from '../http/http-answer.ts';

/** Decides one admission. If the handler throws, the pipeline answers an internal error. */
export type AdmissionHandler = (request: AdmissionRequest) => AdmissionDecision | Promise<AdmissionDecision>;

/** A handler, and how the pipeline can cache its decisions. */
export interface RouteHandler {
  readonly handler: AdmissionHandler;
  /**
   * Returns all inputs of a decision other than the path and the bytes of the review. A cached
   * decision is valid while all inputs are identical (`===`). If this function is absent, decisions
   * are not cached.
   */
  readonly dependencies?: () => readonly unknown[];
  /** Decides large reviews, and reviews that exceed the handler's limits. */
  readonly worker?: HeavyHandler;
  /**
   * Called for each decided review after its answer was written, also for cached decisions and dry
   * runs. The request may lack its objects, and the decision its patch. A slow callback delays
   * other answers.
   */
  readonly afterResponse?: (request: AdmissionRequest, decision: AdmissionDecision, body: Buffer) => void;
}

/** A review that would delay other reviews if the main thread decided it. */
export interface HeavyReview {
  readonly body: Buffer;
  /** The maximum depth of the review's objects, in levels. */
  readonly maxDepth: number;
  /** Whether the caller still needs the body. If false, the body's memory is transferred. */
  readonly keepsBody: boolean;
  /** The webhook's timeout in milliseconds, if known. */
  readonly timeout: number | undefined;
}

export interface ReviewVerdict {
  readonly version: ReviewVersion;
  /** The objects of the request may be missing. */
  readonly request: AdmissionRequest;
  /** The patch may be missing here; `encoded` contains it. */
  readonly decision: AdmissionDecision;
  /** The JSON of the answer after the uid; see `encodeDecision`. */
  readonly encoded: string;
  /** The dependencies of the decision; absent if it must not be cached. */
  readonly dependencies?: readonly unknown[] | undefined;
}

/** The result of a heavy review: decided, malformed, or refused because the worker is busy. */
export type HeavyVerdict = ReviewVerdict | MalformedReview | { readonly unavailable: string };

/** Decides reviews of one target on another thread, with higher limits than the handler's. */
export type HeavyHandler = (review: HeavyReview) => Promise<HeavyVerdict>;

/** The target of a path: a handler, a page for GET and HEAD, or the reason for a 503. */
export type RouteTarget = RouteHandler | { page(): HttpAnswer } | { readonly unavailable: string };

export interface AdmissionRoute {
  /** The kind of path, a label of metrics and logs. */
  readonly kind: string;
  /** Returns the target of a path without query; undefined for paths of another kind. */
  resolve(path: string): RouteTarget | undefined;
}
