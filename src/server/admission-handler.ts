import type { AdmissionDecision } from './admission-decision.ts';
import type { AdmissionRequest } from './admission-request.ts';
import type { HttpAnswer } from './http-answer.ts';
import type { ReviewLane } from './lane/review-lane.ts';

/** Decides one admission. Throws nothing: a handler's exception is answered as an internal error. */
export type AdmissionHandler = (request: AdmissionRequest) => AdmissionDecision | Promise<AdmissionDecision>;

/** A handler, and what lets its decisions be given again. */
export interface RouteHandler {
  readonly handler: AdmissionHandler;
  /**
   * Everything beside the path and the bytes of the review that a decision depends on. While each is the very same (`===`), so is the decision; a handler
   * without it is asked every time.
   */
  readonly dependencies?: (request: AdmissionRequest) => readonly unknown[];
  /** Where large reviews are decided, and those that the handler had to give up; absent: the handler decides all. */
  readonly lane?: ReviewLane;
  /**
   * Is told of each review that was decided, after its answer has been written, also when the decision was given again. The request may lack its
   * objects, and the decision its patch. Dry runs come too. What it takes delays other answers.
   */
  readonly told?: (request: AdmissionRequest, decision: AdmissionDecision, body: Buffer) => void;
}

/** Something to be read: answers GET and HEAD. */
export interface RoutePage {
  page(): HttpAnswer;
}

/** Where a path leads: a handler, a page, or why it cannot be served now (answered 503, so that the API server tries another replica). */
export type RouteTarget = RouteHandler | RoutePage | { readonly unavailable: string };

/** A row of the router's table. */
export interface AdmissionRoute {
  /** A label of metrics and logs: one word per kind of path. */
  readonly kind: string;
  /** The path without its query, e.g. `/revisions/default/0a1b2c3d/inject`; undefined when it is not of this kind. */
  resolve(path: string): RouteTarget | undefined;
}
