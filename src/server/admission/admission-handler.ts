import type { AdmissionDecision, AdmissionRequest, ReviewVersion } from './admission-decision.ts';
import type { MalformedReview } from './decode-admission-review.ts';
import type { HttpAnswer } from '../http/http-answer.ts';

/** Decides one admission. Throws nothing: a handler's exception is answered as an internal error. */
export type AdmissionHandler = (request: AdmissionRequest) => AdmissionDecision | Promise<AdmissionDecision>;

/** A handler, and what lets its decisions be given again. */
export interface RouteHandler {
  readonly handler: AdmissionHandler;
  /**
   * Everything beside the path and the bytes of the review that a decision depends on now. While each is the very same (`===`), so is the decision; a
   * handler without it is asked every time.
   */
  readonly dependencies?: () => readonly unknown[];
  /** Where large reviews are decided, and those that the handler had to give up; absent: the handler decides all. */
  readonly worker?: HeavyReviews;
  /**
   * Is told of each review that was decided, after its answer has been written, also when the decision was given again. The request may lack its
   * objects, and the decision its patch. Dry runs come too. What it takes delays other answers.
   */
  readonly afterResponse?: (request: AdmissionRequest, decision: AdmissionDecision, body: Buffer) => void;
}

/** A review that would hold up others if it were decided on the thread that answers them. */
export interface HeavyReview {
  readonly body: Buffer;
  /** Levels to which its objects may nest. */
  readonly maxDepth: number;
  /** Whether the caller still needs the body; otherwise its memory is handed over. */
  readonly keepsBody: boolean;
  /** The webhook's timeout in milliseconds, where it is known. */
  readonly timeout: number | undefined;
}

/** A review that was decided. */
export interface ReviewVerdict {
  readonly version: ReviewVersion;
  /** May lack its objects. */
  readonly request: AdmissionRequest;
  /** May lack its patch, which `encoded` has. */
  readonly decision: AdmissionDecision;
  /** See `encodeDecision`. */
  readonly encoded: string;
  /** What the decision depended on when it was made (see `RouteHandler.dependencies`); absent when it must not be given again. */
  readonly dependencies?: readonly unknown[] | undefined;
}

/** What became of a heavy review: decided, not a review, or there is no room for it now. */
export type HeavyVerdict = ReviewVerdict | MalformedReview | { readonly unavailable: string };

/** Decides reviews for one target on another thread: the same answer, to the byte, as its handler would give if it took its time. */
export interface HeavyReviews {
  /** Whether the handler gave up because of a bound that the worker does not have. */
  goesOn(decision: AdmissionDecision): boolean;
  decide(review: HeavyReview): Promise<HeavyVerdict>;
}

/** Where a path leads: a handler, a page for GET and HEAD, or why it cannot be served now (answered 503, so that the API server tries another replica). */
export type RouteTarget = RouteHandler | { page(): HttpAnswer } | { readonly unavailable: string };

/** A row of the router's table. */
export interface AdmissionRoute {
  /** A label of metrics and logs: one word per kind of path. */
  readonly kind: string;
  /** The path without its query, e.g. `/revisions/default/0a1b2c3d/inject`; undefined when it is not of this kind. */
  resolve(path: string): RouteTarget | undefined;
}
