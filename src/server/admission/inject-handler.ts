import { inject as injectPod } from '../../inject/inject.ts';
import type { InjectionRequest, NamespaceMetadata } from '../../inject/injection-request.ts';
import type { FailureReason, InjectionResult } from '../../inject/injection-result.ts';
import type { Injector } from '../../inject/injector.ts';
import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';
import { endlessJobWarnings } from '../../inject/pod/endless-job.ts';
import { type AdmissionDecision, allowed, denied, type AdmissionRequest } from './admission-decision.ts';
import { annotateConfiguration } from './configuration-annotation.ts';

/**
 * The state of the cluster that an injection needs, from memory. A list must be the same object
 * until it changes, because cached decisions depend on its identity.
 */
export type Surroundings = Pick<InjectionRequest, 'nodes' | 'proxyConfigs'> & {
  /** The namespaces by name, on OpenShift. */
  readonly namespaces?: ReadonlyMap<string, NamespaceMetadata>;
};

/** The injector that a path names, and the path from `/inject` on. */
export interface InjectionTarget {
  readonly name: string;
  readonly hash: string;
  readonly injector: Injector;
  readonly path: string;
  /** Whether to add the annotation with the configuration to injected pods. */
  readonly annotate: boolean;
  /** The scheduling gate to remove from pods, with which failurePolicy Hold holds them. */
  readonly gate?: string;
}

export type InjectPod = (injector: Injector, request: InjectionRequest) => InjectionResult;

/**
 * Decides a review on an inject path. Injects only when a pod is created. Allows any other request
 * with a warning: such a request comes from webhook rules that are too wide, and creates no pod.
 */
export function decideInjection(
  target: InjectionTarget,
  request: AdmissionRequest,
  surroundings: Surroundings,
  inject: InjectPod = injectPod,
): AdmissionDecision {
  const { name, hash } = target;
  const injector = { name, hash };
  const unexpected = notAPodCreation(request);
  if (unexpected !== undefined) {
    const { reason, what } = unexpected;
    const warning = `not injected: only CREATE of pods is supported; remove ${what} from the rules of the webhook`;
    return audited(target, allowed(reason, [warning]));
  }
  const { object: pod, namespace } = request;
  if (!isJsonObject(pod))
    return { ...denied('InvalidPod', 400, 'request.object must be a pod: a JSON object'), outcome: 'failed', injector };
  const result = inject(target.injector, requestFor(pod, namespace, target.path, surroundings));
  const { outcome } = result;
  switch (outcome) {
    case 'injected': {
      const mark = target.annotate ? annotateConfiguration(result.pod, name, hash) : [];
      const release = removeGate(result.pod, target.gate);
      const patch = mark.length + release.length === 0 ? result.patch : [...result.patch, ...mark, ...release];
      const warnings = [...result.warnings, ...endlessJobWarnings(pod, result.pod)];
      return audited(target, { outcome, reason: 'Injected', allowed: true, patch, warnings, injector });
    }
    case 'skipped': {
      const { reason, message } = result;
      // Do not warn if the pod's author opted out.
      const isOptOut = reason === 'OptedOutByLabel' || reason === 'OptedOutByAnnotation';
      const warnings = isOptOut ? result.warnings : [`not injected by ${name}: ${message}`, ...result.warnings];
      const patch = removeGate(pod, target.gate);
      const change = patch.length === 0 ? {} : { patch };
      return audited(target, { outcome, reason, allowed: true, ...change, warnings, injector });
    }
    case 'failed': {
      const { reason, message } = result;
      const said =
        reason === 'InjectionFailing'
          ? `${reason}: InjectorConfig ${name} cannot inject this pod, nor the pod with harmless annotations and labels; the platform team must correct ${message}`
          : message;
      return audited(target, { ...denied(reason, codes[reason], said), outcome, injector });
    }
  }
}

/** Returns the request to the engine for a pod. */
export function requestFor(
  pod: JsonObject,
  namespace: string,
  path: string,
  { namespaces, ...others }: Surroundings,
): InjectionRequest {
  const namespaceMetadata = namespaces?.get(namespace);
  return { pod, namespace, path, ...others, ...(namespaceMetadata && { namespaceMetadata }) };
}

/** Describes a request that does not create a pod. As in Istio, a missing resource means pods. */
export function notAPodCreation(request: AdmissionRequest): { reason: string; what: string } | undefined {
  const { resource, subResource, operation } = request;
  if (operation === 'CREATE' && subResource === '' && (resource === undefined || resource === 'pods')) return undefined;
  const what = `${operation} ${resource ?? 'pods'}${subResource === '' ? '' : `/${subResource}`}`;
  if (resource !== undefined && resource !== 'pods') return { reason: 'NotAPod', what };
  if (subResource !== '') return { reason: 'SubResource', what };
  return { reason: 'NotACreation', what };
}

/** The code of the answer: 4xx if the pod's author must act, 500 if the injector's owner must. */
const codes: Readonly<Record<FailureReason, number>> = {
  InvalidPod: 400,
  InvalidAnnotation: 422,
  AnnotationNotAllowed: 422,
  UnsafeAnnotation: 422,
  SameName: 422,
  InvalidProxyConfig: 422,
  InvalidOverrides: 422,
  UnknownTemplate: 422,
  InvalidPrometheusConfiguration: 422,
  InjectionFailing: 500,
  TemplateFailed: 500,
  TemplateLimit: 500,
  InvalidTemplateOutput: 500,
  Internal: 500,
};

/** Adds audit annotations. The API server prefixes each key with the webhook's name. */
function audited({ name, hash }: InjectionTarget, decision: AdmissionDecision): AdmissionDecision {
  const { outcome, reason } = decision;
  return { ...decision, auditAnnotations: { revision: name, config: hash, outcome, reason } };
}

/**
 * Returns the operations that remove a scheduling gate from a pod (Pod field spec.schedulingGates).
 * @param pod the pod after all other operations
 */
export function removeGate(pod: JsonObject, gate: string | undefined): JsonPatchOperation[] {
  const gates = gate !== undefined && isJsonObject(pod.spec) ? pod.spec.schedulingGates : undefined;
  if (!Array.isArray(gates)) return [];
  const found = gates.flatMap((each, index) => (isJsonObject(each) && each.name === gate ? [index] : []));
  // Remove the last first, so that the other indexes stay valid.
  return found.reverse().map((index) => ({ op: 'remove', path: `/spec/schedulingGates/${index}` }));
}
