import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import type { NamespaceMetadata, NodeFacts, ProxyConfigResource } from '../../inject/injection-request.ts';
import type { AdmissionDecision, RolloutTrack } from '../admission-decision.ts';
import type { AdmissionRequest, ReviewVersion } from '../admission-request.ts';
import type { DecodedReview } from '../decode-admission-review.ts';
import type { InjectionTarget } from '../inject-handler.ts';
import type { Comparison } from '../rollout/compare-tracks.ts';
import type { TrackChoice } from '../rollout/rollout-targets.ts';

/** What the lane is to know of the cluster for one pod. Lists that are left out are what they were the last time: they can be long. */
export interface LaneSurroundings {
  readonly nodes?: readonly NodeFacts[] | undefined;
  readonly proxyConfigs?: readonly ProxyConfigResource[] | undefined;
  readonly namespaceMetadata?: NamespaceMetadata | undefined;
}

/** An injection target for the other thread: its injector by number. */
export interface LaneTarget {
  readonly injector: number;
  readonly target: Omit<InjectionTarget, 'injector'>;
}

/** To the lane's thread. It does one thing at a time: nothing new is sent before the last is answered. */
export type ToLane =
  /** Numbers stand for injectors: each loaded configuration of the main thread has its own, for ever. */
  | { readonly kind: 'learn'; readonly injector: number; readonly files: ConfigurationFiles }
  | { readonly kind: 'forget'; readonly injector: number }
  | ({
      readonly kind: 'review';
      readonly body: Uint8Array;
      readonly maxDepth: number;
      /** In a rollout the target is the stable one. */
      readonly rollout?: { readonly canary: LaneTarget; readonly choice: TrackChoice };
    } & LaneTarget)
  /** To be rendered by both, for nobody's answer. */
  | {
      readonly kind: 'compare';
      readonly body: Uint8Array;
      readonly maxDepth: number;
      readonly stable: LaneTarget;
      readonly canary: LaneTarget;
    }
  /** Answers `decoded`. */
  | { readonly kind: 'surroundings'; readonly surroundings: LaneSurroundings };

/** From the lane's thread. */
export type FromLane =
  /** A review has been decoded, and this is the request without its objects: what are its surroundings? */
  | {
      readonly kind: 'decoded';
      readonly version: ReviewVersion;
      readonly request: AdmissionRequest;
      /** In a rollout: who will decide it. */
      readonly track?: RolloutTrack;
    }
  | { readonly kind: 'malformed'; readonly review: Extract<DecodedReview, { problem: string }> }
  /** The decision without its patch, which `encoded` has. */
  | { readonly kind: 'decided'; readonly decision: AdmissionDecision; readonly encoded: string }
  /** Undefined for what is not the creation of a pod. */
  | { readonly kind: 'compared'; readonly comparison: Comparison | undefined }
  /** A ConfigurationError. */
  | { readonly kind: 'refused'; readonly field: string; readonly message: string }
  /** An exception that nobody expected. */
  | { readonly kind: 'defect'; readonly error: string };
