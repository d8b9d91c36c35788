import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type {
  AdmissionDecision,
  RolloutTrack,
  AdmissionRequest,
  ReviewVersion,
} from '../admission/admission-decision.ts';
import type { MalformedReview } from '../admission/decode-admission-review.ts';
import type { InjectionTarget, Surroundings } from '../admission/inject-handler.ts';
import type { Comparison } from '../rollout/compare-tracks.ts';
import type { TrackChoice } from '../rollout/rollout-targets.ts';

/** A review that the thread decides or, if `choice` is `compare`, renders with both targets. */
export interface ReviewTask<Target = InjectionTarget> {
  /** The bytes, which are transferred to the thread. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The maximum depth of the review, in levels. */
  readonly maxDepth: number;
  readonly target: Target;
  readonly rollout?: { readonly canary: Target; readonly choice: TrackChoice | 'compare' };
  readonly surroundings: Surroundings;
}

/** A target in a message. The number identifies the loaded configuration. */
export interface NumberedTarget extends Omit<InjectionTarget, 'injector'> {
  readonly number: number;
  readonly files: ConfigurationFiles;
}

/** A message to the worker's thread. Omits unchanged surroundings, which can be large. */
export type ToThread = ReviewTask<NumberedTarget>;

/** The answer to a task. */
export type WorkerAnswer =
  | { readonly kind: 'malformed'; readonly review: MalformedReview }
  /** The decision lacks its patch, which `encoded` contains. */
  | { readonly kind: 'decided'; readonly decision: AdmissionDecision; readonly encoded: string }
  /** The comparison is undefined if the request does not create a pod. */
  | { readonly kind: 'compared'; readonly comparison: Comparison | undefined }
  /** An unexpected exception. */
  | { readonly kind: 'defect'; readonly error: string };

/** A decoded review whose decision follows; the request lacks its objects. */
export interface ReadReview {
  readonly kind: 'decoded';
  readonly version: ReviewVersion;
  readonly request: AdmissionRequest;
  readonly track?: RolloutTrack;
}

/** A message from the worker's thread: the decoded review if it is valid, then the answer. */
export type FromThread = ReadReview | WorkerAnswer;
