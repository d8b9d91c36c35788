import type { JsonPatchOperation } from './patch/json-patch.ts';
import type { JsonObject } from './patch/json-value.ts';
import type { InjectedPod } from './rehearsal/typical-pods.ts';

/** The reasons why a pod is not injected, with descriptions. The keys are metric label values. */
export const skipReasons = {
  HostNetwork: 'the pod uses the host network, whose traffic is never redirected',
  WindowsPod: 'the pod runs on Windows, which the templates do not serve (`windowsPods`)',
  IgnoredNamespace: 'system namespaces are never injected',
  OptedOutByLabel: "the pod's label opts out",
  OptedOutByAnnotation: "the pod's annotation opts out",
  NeverInjectSelector: '`neverInjectSelector` matches the pod',
  PolicyDisabled: 'the policy is `disabled`, and the pod does not ask for injection',
  PolicyUnknown: 'the policy is neither `enabled` nor `disabled`',
} as const;
export type SkipReason = keyof typeof skipReasons;

/** The reasons why injection fails, with descriptions. The keys are metric label values. */
export const failureReasons = {
  InvalidPod: 'the object is not a valid pod',
  InvalidAnnotation: 'an annotation has an invalid value',
  AnnotationNotAllowed: '`annotationOverrides` does not allow an annotation or label of the pod',
  UnsafeAnnotation: 'an annotation or label would change more of the pod than a value',
  SameName: 'elements of the pod, such as containers, would change elements of the templates with the same names',
  InvalidProxyConfig: 'the annotation `proxy.istio.io/config` cannot be parsed',
  InvalidOverrides: 'the container overrides cannot be parsed',
  UnknownTemplate: 'the pod names a template that does not exist',
  InjectionFailing: 'the templates fail for the pod, also with harmless texts in its annotations and labels',
  TemplateFailed: 'a template failed (preset `Istio`)',
  TemplateLimit: 'the templates exceeded the limit on steps, time or output',
  InvalidTemplateOutput: 'the output of a template is not part of a pod (preset `Istio`)',
  InvalidPrometheusConfiguration: "the pod's Prometheus annotations cannot be merged",
  Internal: 'a bug in the operator: please report it',
} as const;
export type FailureReason = keyof typeof failureReasons;

/** The result of injecting one pod. {@link inject} returns refusals; it does not throw them. */
export type InjectionResult =
  | {
      readonly outcome: 'injected';
      /** The injected pod, which shares unchanged parts with the request's pod. */
      readonly pod: JsonObject;
      /** The JSON patch from the request's pod to `pod`. */
      readonly patch: JsonPatchOperation[];
      readonly warnings: readonly string[];
    }
  | {
      readonly outcome: 'skipped';
      readonly reason: SkipReason;
      readonly message: string;
      readonly warnings: readonly string[];
    }
  | {
      readonly outcome: 'failed';
      readonly reason: FailureReason;
      readonly message: string;
      /** What to append to Istio's message for a reader: the value and the field at fault. */
      readonly detail?: string;
    };

/** The result of trying a configuration before it is published (rehearsal/). Plain data. */
export interface Rehearsal {
  /** The reason why no pod could be injected, or was usable then; absent if one was. */
  readonly failure?: { readonly reason: FailureReason; readonly message: string };
  /** Why injected pods are unusable, and how many of them. */
  readonly unusable?: {
    readonly message: string;
    readonly share: string;
    readonly isEvery: boolean;
    /** Whether only rules of the API server make pods unusable. */
    readonly isByServer: boolean;
  };
  /** Warnings for the author of the templates, one sentence each. */
  readonly warnings: readonly string[];
  /** The injected pods; a trial returns them only on request, because of their size. */
  readonly injected?: readonly InjectedPod[] | undefined;
}
