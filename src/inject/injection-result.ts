import type { JsonPatchOperation } from './patch/json-patch.ts';
import type { JsonObject } from './patch/json-value.ts';

/** Why a pod is left alone: identifiers, fit for metric labels. */
export type SkipReason =
  | 'HostNetwork'
  | 'IgnoredNamespace'
  | 'OptedOutByLabel'
  | 'OptedOutByAnnotation'
  | 'NeverInjectSelector'
  | 'PolicyDisabled'
  | 'PolicyUnknown';

/** Why a pod that should be injected cannot be: identifiers, fit for metric labels. */
export type FailureReason =
  | 'InvalidPod'
  | 'InvalidAnnotation'
  | 'AnnotationNotAllowed'
  | 'UnsafeAnnotation'
  | 'InvalidProxyConfig'
  | 'InvalidOverrides'
  | 'UnknownTemplate'
  | 'TemplateFailed'
  | 'TemplateLimit'
  | 'InvalidTemplateOutput'
  | 'InvalidPrometheusConfiguration'
  | 'Internal';

/** What became of one pod. Refusals are data: {@link inject} does not throw. */
export type InjectionResult =
  | {
      readonly outcome: 'injected';
      /** The pod afterwards; shares what did not change with the request's pod. */
      readonly pod: JsonObject;
      /** From the request's pod to `pod`. */
      readonly patch: JsonPatchOperation[];
      readonly warnings: readonly string[];
    }
  | {
      readonly outcome: 'skipped';
      readonly reason: SkipReason;
      readonly message: string;
      readonly warnings: readonly string[];
    }
  | { readonly outcome: 'failed'; readonly reason: FailureReason; readonly message: string };

/** What became of the pods with which a configuration was tried before anybody's pod met it (see rehearsal/rehearse.ts). Plain data. */
export interface Rehearsal {
  /** Why none of them could be injected; absent when at least one could. */
  readonly failure?: { readonly reason: FailureReason; readonly message: string };
  /** What whoever wrote the templates would want to know, one sentence each. */
  readonly warnings: readonly string[];
}
