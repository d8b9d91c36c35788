import { inject as injectPod } from '../../inject/inject.ts';
import type {
  InjectionRequest,
  NamespaceMetadata,
  NodeFacts,
  ProxyConfigResource,
} from '../../inject/injection-request.ts';
import type { FailureReason, InjectionResult, SkipReason } from '../../inject/injection-result.ts';
import type { Injector } from '../../inject/injector.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { type AdmissionDecision, allowed, denied } from './admission-decision.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { annotateConfiguration } from './configuration-annotation.ts';

/**
 * What an injection needs to know of the cluster, from memory: nothing here may wait. Each returns the same object for as long as nothing has changed, and another
 * one when it has: decisions are given again by that.
 */
export interface PodSurroundings {
  nodes?(): readonly NodeFacts[];
  namespaceMetadata?(namespace: string): NamespaceMetadata | undefined;
  /** Istio's ProxyConfig resources of the root namespace and of the pod's. */
  proxyConfigs?(namespace: string): readonly ProxyConfigResource[];
}

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
  surroundings: PodSurroundings,
  inject: InjectPod = injectPod,
): AdmissionDecision {
  const { name, hash } = target;
  const injector = { name, hash };
  const strange = notAPodCreation(request);
  if (strange !== undefined) {
    const { reason, what } = strange;
    const warning = `not injected: only CREATE of pods is; narrow the rules of the webhook, which sent ${what}`;
    return { ...allowed(reason, [warning]), auditAnnotations: audit(injector, 'allowed', reason) };
  }
  const { object: pod, namespace } = request;
  if (!isJsonObject(pod)) {
    return { ...denied('InvalidPod', 400, 'request.object must be a pod: a JSON object'), outcome: 'failed', injector };
  }
  const result = inject(target.injector, injectionRequest(pod, namespace, target.path, surroundings));
  switch (result.outcome) {
    case 'injected': {
      const mark = target.annotate ? annotateConfiguration(result.pod, name, hash) : [];
      return {
        outcome: 'injected',
        reason: 'Injected',
        allowed: true,
        patch: mark.length === 0 ? result.patch : [...result.patch, ...mark],
        warnings: result.warnings,
        auditAnnotations: audit(injector, 'injected', 'Injected'),
        injector,
      };
    }
    case 'skipped': {
      const { reason, message, warnings } = result;
      return {
        outcome: 'skipped',
        reason,
        allowed: true,
        warnings: isWish(reason) ? warnings : [`not injected by ${name}: ${message}`, ...warnings],
        auditAnnotations: audit(injector, 'skipped', reason),
        injector,
      };
    }
    case 'failed': {
      const { reason, message } = result;
      const refusal = denied(reason, codeOf(reason), message);
      return { ...refusal, outcome: 'failed', auditAnnotations: audit(injector, 'failed', reason), injector };
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

/** What the engine is asked for one pod. */
export function injectionRequest(
  pod: InjectionRequest['pod'],
  namespace: string,
  path: string,
  surroundings: PodSurroundings,
): InjectionRequest {
  const request: { -readonly [Name in keyof InjectionRequest]: InjectionRequest[Name] } = { pod, namespace, path };
  const namespaceMetadata = surroundings.namespaceMetadata?.(namespace);
  const nodes = surroundings.nodes?.();
  const proxyConfigs = surroundings.proxyConfigs?.(namespace);
  if (namespaceMetadata !== undefined) request.namespaceMetadata = namespaceMetadata;
  if (nodes !== undefined) request.nodes = nodes;
  if (proxyConfigs !== undefined) request.proxyConfigs = proxyConfigs;
  return request;
}

/** The pod's author asked for it: no warning. */
function isWish(reason: SkipReason): boolean {
  return reason === 'OptedOutByLabel' || reason === 'OptedOutByAnnotation';
}

/** The code that the user's own request gets: theirs to mend, or the injector's owner's. */
function codeOf(reason: FailureReason): number {
  switch (reason) {
    case 'InvalidPod':
      return 400;
    case 'InvalidAnnotation':
    case 'AnnotationNotAllowed':
    case 'UnsafeAnnotation':
    case 'InvalidProxyConfig':
    case 'InvalidOverrides':
    case 'UnknownTemplate':
    case 'InvalidPrometheusConfiguration':
      return 422;
    case 'TemplateFailed':
    case 'TemplateLimit':
    case 'InvalidTemplateOutput':
    case 'Internal':
      return 500;
  }
}

/** For the audit log; the API server puts the webhook's name before each key. */
function audit(injector: { name: string; hash: string }, outcome: string, reason: string): Record<string, string> {
  return { revision: injector.name, config: injector.hash, outcome, reason };
}
