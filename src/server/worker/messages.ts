import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { NamespaceMetadata, NodeFacts, ProxyConfigResource } from '../../inject/injection-request.ts';
import type { AdmissionDecision, RolloutTrack } from '../admission/admission-decision.ts';
import type { AdmissionRequest, ReviewVersion } from '../admission/admission-request.ts';
import type { DecodedReview } from '../admission/decode-admission-review.ts';
import type { InjectionTarget } from '../admission/inject-handler.ts';
import type { Comparison } from '../rollout/compare-tracks.ts';
import type { TrackChoice } from '../rollout/rollout-targets.ts';

/** What one pod's injection needs to know of the cluster. */
export interface Surroundings {
  readonly nodes?: readonly NodeFacts[] | undefined;
  readonly proxyConfigs?: readonly ProxyConfigResource[] | undefined;
  readonly namespaceMetadata?: NamespaceMetadata | undefined;
}

/** A review to be decided by a target; in a rollout by the stable or the canary one, or to be rendered by both and compared. */
export interface ReviewTask<Target = InjectionTarget> {
  /** Is given away. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Levels to which the review may nest. */
  readonly maxDepth: number;
  readonly target: Target;
  readonly rollout?: { readonly canary: Target; readonly choice: TrackChoice | 'compare' };
}

/** A target for the other thread. The number stands for one loaded configuration, whatever its name and hash. */
export interface NumberedTarget extends Omit<InjectionTarget, 'injector'> {
  readonly number: number;
  readonly files: ConfigurationFiles;
}

/** To the worker's thread, which answers each message with one. A review is followed by its surroundings, unless it is malformed. */
export type ToThread =
  | ({ readonly kind: 'review' } & ReviewTask<NumberedTarget>)
  /** Answers `decoded`. Lists that are left out are those of the last time: they can be long. */
  | { readonly kind: 'surroundings'; readonly surroundings: Surroundings };

/** The last answer to a task. */
export type WorkerAnswer =
  | { readonly kind: 'malformed'; readonly review: Extract<DecodedReview, { problem: string }> }
  /** The decision without its patch, which `encoded` has. */
  | { readonly kind: 'decided'; readonly decision: AdmissionDecision; readonly encoded: string }
  /** Undefined for what is not the creation of a pod. */
  | { readonly kind: 'compared'; readonly comparison: Comparison | undefined }
  /** An exception that nobody expected. */
  | { readonly kind: 'defect'; readonly error: string };

/** A review has been read, and this is the request without its objects: what are its surroundings? */
export interface ReadReview {
  readonly kind: 'decoded';
  readonly version: ReviewVersion;
  readonly request: AdmissionRequest;
  /** In a rollout: who will decide it. */
  readonly track?: RolloutTrack;
}

/** From the worker's thread. */
export type FromThread = ReadReview | WorkerAnswer;
