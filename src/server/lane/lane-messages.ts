import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import type { NamespaceMetadata, NodeFacts, ProxyConfigResource } from '../../inject/injection-request.ts';
import type { AdmissionDecision } from '../admission-decision.ts';
import type { AdmissionRequest, ReviewVersion } from '../admission-request.ts';
import type { DecodedReview } from '../decode-admission-review.ts';
import type { InjectionTarget } from '../inject-handler.ts';

/** What the lane is to know of the cluster for one pod. Lists that are left out are what they were the last time: they can be long. */
export interface LaneSurroundings {
  readonly nodes?: readonly NodeFacts[] | undefined;
  readonly proxyConfigs?: readonly ProxyConfigResource[] | undefined;
  readonly namespaceMetadata?: NamespaceMetadata | undefined;
}

/** To the lane's thread. It does one thing at a time: nothing new is sent before the last is answered. */
export type ToLane =
  /** Numbers stand for injectors: each loaded configuration of the main thread has its own, for ever. */
  | { readonly kind: 'learn'; readonly injector: number; readonly files: ConfigurationFiles }
  | { readonly kind: 'forget'; readonly injector: number }
  | {
      readonly kind: 'review';
      readonly body: Uint8Array;
      readonly maxDepth: number;
      readonly injector: number;
      readonly target: Omit<InjectionTarget, 'injector'>;
    }
  /** Answers `decoded`. */
  | { readonly kind: 'surroundings'; readonly surroundings: LaneSurroundings }
  | { readonly kind: 'read'; readonly files: ConfigurationFiles };

/** From the lane's thread. */
export type FromLane =
  /** A review has been decoded, and this is the request without its objects: what are its surroundings? */
  | { readonly kind: 'decoded'; readonly version: ReviewVersion; readonly request: AdmissionRequest }
  | { readonly kind: 'malformed'; readonly review: Extract<DecodedReview, { problem: string }> }
  /** The decision without its patch, which `encoded` has. */
  | { readonly kind: 'decided'; readonly decision: AdmissionDecision; readonly encoded: string }
  | { readonly kind: 'read'; readonly configuration: ReadConfiguration }
  /** A ConfigurationError. */
  | { readonly kind: 'refused'; readonly field: string; readonly message: string }
  /** An exception that nobody expected. */
  | { readonly kind: 'defect'; readonly error: string };
