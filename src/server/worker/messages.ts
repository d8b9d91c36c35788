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

/** A review to be decided by a target; in a rollout by the stable or the canary one, or to be rendered by both and compared. */
export interface ReviewTask<Target = InjectionTarget> {
  /** Is given away. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Levels to which the review may nest. */
  readonly maxDepth: number;
  readonly target: Target;
  readonly rollout?: { readonly canary: Target; readonly choice: TrackChoice | 'compare' };
  readonly surroundings: Surroundings;
}

/** A target for the other thread. The number stands for one loaded configuration, whatever its name and hash. */
export interface NumberedTarget extends Omit<InjectionTarget, 'injector'> {
  readonly number: number;
  readonly files: ConfigurationFiles;
}

/** To the worker's thread. Surroundings that are left out are those of the last time: they can be long. */
export type ToThread = ReviewTask<NumberedTarget>;

/** The answer to a task. */
export type WorkerAnswer =
  | { readonly kind: 'malformed'; readonly review: MalformedReview }
  /** The decision without its patch, which `encoded` has. */
  | { readonly kind: 'decided'; readonly decision: AdmissionDecision; readonly encoded: string }
  /** Undefined for what is not the creation of a pod. */
  | { readonly kind: 'compared'; readonly comparison: Comparison | undefined }
  /** An exception that nobody expected. */
  | { readonly kind: 'defect'; readonly error: string };

/** A review has been read, and will be decided: this is the request without its objects. */
export interface ReadReview {
  readonly kind: 'decoded';
  readonly version: ReviewVersion;
  readonly request: AdmissionRequest;
  /** In a rollout: who will decide it. */
  readonly track?: RolloutTrack;
}

/** From the worker's thread: an answer to each task, and before it what was read, unless it is malformed. */
export type FromThread = ReadReview | WorkerAnswer;
