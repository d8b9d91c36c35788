import type { JsonPatchOperation } from './patch/json-patch.ts';
import type { JsonObject } from './patch/json-value.ts';

/** Why a pod is left alone: identifiers, fit for metric labels. */
export const skipReasons = {
  HostNetwork: "it uses the node's network, which is never redirected",
  IgnoredNamespace: 'system namespaces are never injected',
  OptedOutByLabel: 'its label says so',
  OptedOutByAnnotation: 'its annotation says so',
  NeverInjectSelector: '`neverInjectSelector` takes it',
  PolicyDisabled: 'the policy is `disabled`, and it does not ask',
  PolicyUnknown: 'the policy is neither `enabled` nor `disabled`',
} as const;
export type SkipReason = keyof typeof skipReasons;

/** Why a pod that should be injected cannot be: identifiers, fit for metric labels. */
export const failureReasons = {
  InvalidPod: 'it is not what a pod has to be',
  InvalidAnnotation: 'an annotation has a value that it cannot have',
  AnnotationNotAllowed: '`annotationOverrides` does not allow an annotation or label that it has',
  UnsafeAnnotation: 'an annotation or label would add more than a value',
  InvalidProxyConfig: 'its annotation with a ProxyConfig cannot be read',
  InvalidOverrides: 'the containers that it overrides cannot be read',
  UnknownTemplate: 'it names a template that there is not',
  TemplateFailed: 'a template failed',
  TemplateLimit: 'a template took more steps, time or output than it may',
  InvalidTemplateOutput: 'a template rendered something that is no part of a pod',
  InvalidPrometheusConfiguration: 'its annotations for Prometheus cannot be merged',
  Internal: 'a mistake of this program: please report it',
} as const;
export type FailureReason = keyof typeof failureReasons;

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
