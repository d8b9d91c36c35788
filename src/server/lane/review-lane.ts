import type { AdmissionDecision } from '../admission-decision.ts';
import type { AdmissionRequest, ReviewVersion } from '../admission-request.ts';

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

/** What became of it. */
export type LaneVerdict =
  | {
      readonly version: ReviewVersion;
      /** Without its objects. */
      readonly request: AdmissionRequest;
      /** Without its patch, which `encoded` has. */
      readonly decision: AdmissionDecision;
      /** See `encodeDecision`. */
      readonly encoded: string;
      /** What the decision depended on when it was made (see `RouteHandler.dependencies`); absent when it must not be given again. */
      readonly dependencies?: readonly unknown[];
    }
  /** Not a review, see `DecodedReview`. */
  | { readonly problem: string; readonly version?: ReviewVersion; readonly uid?: string }
  /** There is no room for it now. */
  | { readonly unavailable: string };

/** Decides reviews for one target on another thread: the same answer, to the byte, as its handler would give if it took its time. */
export interface ReviewLane {
  /** Whether the handler gave up because of a bound that the lane does not have. */
  goesOn(decision: AdmissionDecision): boolean;
  decide(review: HeavyReview): Promise<LaneVerdict>;
}
