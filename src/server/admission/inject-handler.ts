import { inject as injectPod } from '../../inject/inject.ts';
import type { InjectionRequest } from '../../inject/injection-request.ts';
import type { FailureReason, InjectionResult } from '../../inject/injection-result.ts';
import type { Injector } from '../../inject/injector.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { type AdmissionDecision, allowed, denied, type AdmissionRequest } from './admission-decision.ts';
import { annotateConfiguration } from './configuration-annotation.ts';

/**
 * What an injection needs to know of the cluster, from memory. Each list is the same object for as long as nothing has changed, and another one when it
 * has: decisions are given again by that.
 */
export type Surroundings = Pick<InjectionRequest, 'nodes' | 'proxyConfigs'>;

/** The injector that a path named, and how the path goes on from `/inject`. */
export interface InjectionTarget {
  readonly name: string;
  readonly hash: string;
  readonly injector: Injector;
  readonly path: string;
  /** Whether injected pods are to carry the annotation that names their configuration. */
  readonly annotate: boolean;
}

export type InjectPod = (injector: Injector, request: InjectionRequest) => InjectionResult;

/**
 * Decides one review that came for injection. Only the creation of a pod is injected. A webhook that sends anything else is configured wrongly, but
 * nothing that should be injected slips through with it, so it is allowed unchanged, with a warning that says what to narrow.
 */
export function decideInjection(
  target: InjectionTarget,
  request: AdmissionRequest,
  surroundings: Surroundings,
  inject: InjectPod = injectPod,
): AdmissionDecision {
  const { name, hash } = target;
  const injector = { name, hash };
  const strange = notAPodCreation(request);
  if (strange !== undefined) {
    const { reason, what } = strange;
    const warning = `not injected: only CREATE of pods is; narrow the rules of the webhook, which sent ${what}`;
    return audited(target, allowed(reason, [warning]));
  }
  const { object: pod, namespace } = request;
  if (!isJsonObject(pod))
    return { ...denied('InvalidPod', 400, 'request.object must be a pod: a JSON object'), outcome: 'failed', injector };
  const result = inject(target.injector, { pod, namespace, path: target.path, ...surroundings });
  const { outcome } = result;
  switch (outcome) {
    case 'injected': {
      const mark = target.annotate ? annotateConfiguration(result.pod, name, hash) : [];
      const patch = mark.length === 0 ? result.patch : [...result.patch, ...mark];
      const { warnings } = result;
      return audited(target, { outcome, reason: 'Injected', allowed: true, patch, warnings, injector });
    }
    case 'skipped': {
      const { reason, message } = result;
      // What the pod's author asked for is no warning.
      const isWish = reason === 'OptedOutByLabel' || reason === 'OptedOutByAnnotation';
      const warnings = isWish ? result.warnings : [`not injected by ${name}: ${message}`, ...result.warnings];
      return audited(target, { outcome, reason, allowed: true, warnings, injector });
    }
    case 'failed': {
      const { reason, message } = result;
      return audited(target, { ...denied(reason, codes[reason], message), outcome, injector });
    }
  }
}

/** What a request is, when it is not the creation of a pod. A review that does not say what it is about is taken for a pod, as Istio does. */
export function notAPodCreation(request: AdmissionRequest): { reason: string; what: string } | undefined {
  const { resource, subResource, operation } = request;
  if (operation === 'CREATE' && subResource === '' && (resource === undefined || resource === 'pods')) return undefined;
  const what = `${operation} ${resource ?? 'pods'}${subResource === '' ? '' : `/${subResource}`}`;
  if (resource !== undefined && resource !== 'pods') return { reason: 'NotAPod', what };
  if (subResource !== '') return { reason: 'SubResource', what };
  return { reason: 'NotACreation', what };
}

/** The code that the user's own request gets: theirs to mend, or the injector's owner's. */
const codes: Readonly<Record<FailureReason, number>> = {
  InvalidPod: 400,
  InvalidAnnotation: 422,
  AnnotationNotAllowed: 422,
  UnsafeAnnotation: 422,
  InvalidProxyConfig: 422,
  InvalidOverrides: 422,
  UnknownTemplate: 422,
  InvalidPrometheusConfiguration: 422,
  TemplateFailed: 500,
  TemplateLimit: 500,
  InvalidTemplateOutput: 500,
  Internal: 500,
};

/** A decision as the audit log shows it; the API server puts the webhook's name before each key. */
function audited({ name, hash }: InjectionTarget, decision: AdmissionDecision): AdmissionDecision {
  const { outcome, reason } = decision;
  return { ...decision, auditAnnotations: { revision: name, config: hash, outcome, reason } };
}
