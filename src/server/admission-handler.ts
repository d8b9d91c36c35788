import type { AdmissionDecision } from './admission-decision.ts';
import type { AdmissionRequest } from './admission-request.ts';

/** Decides one admission. Throws nothing: a handler's exception is answered as an internal error. */
export type AdmissionHandler = (request: AdmissionRequest) => AdmissionDecision | Promise<AdmissionDecision>;

/** Where a path leads: a handler, or why it cannot be served now (answered 503, so that the API server tries another replica). */
export type RouteTarget = { readonly handler: AdmissionHandler } | { readonly unavailable: string };

/** A row of the router's table. */
export interface AdmissionRoute {
  /** A label of metrics and logs: one word per kind of path. */
  readonly kind: string;
  /** The path without its query, e.g. `/revisions/default/0a1b2c3d/inject`; undefined when it is not of this kind. */
  resolve(path: string): RouteTarget | undefined;
}
