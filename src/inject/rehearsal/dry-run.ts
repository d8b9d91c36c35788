import type { Rehearsal } from '../injection-result.ts';
import { creatableMetadata } from '../kubernetes/admission-pod.ts';
import { objectAt } from '../objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { without } from '../pod/without.ts';

/**
 * The fields of a pod spec that refer to other objects, or that admission plugins compute. With
 * values from another namespace, the plugins ServiceAccount, Priority and RuntimeClass answer 403
 * before the API server validates the pod. A request to create a pod has no `ephemeralContainers`.
 */
const namespaceFields = [
  ...['serviceAccountName', 'serviceAccount', 'priority', 'priorityClassName', 'preemptionPolicy'],
  ...['runtimeClassName', 'overhead', 'nodeName', 'ephemeralContainers'],
];

/** The resources whose default limits come from the LimitRanges of a namespace. */
const limitedResources = ['cpu', 'memory', 'ephemeral-storage'];

/** The annotation in which kubectl keeps a copy of the whole object. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Where injected pods are created as dry runs. */
export interface DryRunPlace {
  readonly namespace: string;
  /** The label that requests injection. With value `false`, no webhook injects the pod again. */
  readonly injectKey: string;
}

/**
 * Returns the pod to create as a dry run in a namespace, so that the API server validates the pod
 * there as it would elsewhere. Replaces the values of variables, commands and arguments, which may
 * be secret; the API server does not validate them.
 */
export function dryRunPod(pod: JsonObject, { namespace, injectKey }: DryRunPlace): JsonObject {
  const metadata = without(creatableMetadata(pod), 'name', 'ownerReferences');
  const annotations = without(objectAt(metadata, ['annotations']), lastApplied);
  const labels = { ...objectAt(metadata, ['labels']) };
  if (labels[injectKey] === 'true') labels[injectKey] = 'false';
  const spec = without(objectAt(pod, ['spec']), ...namespaceFields);
  for (const list of ['containers', 'initContainers']) {
    const items: unknown = spec[list];
    if (!Array.isArray(items)) continue;
    spec[list] = items.map((each: unknown) => (isJsonObject(each) ? dryRunContainer(each) : each));
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, annotations, labels, generateName: 'sidecar-injector-trial-', namespace },
    spec,
  };
}

function dryRunContainer(container: JsonObject): JsonObject {
  const requests = objectAt(container, ['resources', 'requests']);
  const limits = objectAt(container, ['resources', 'limits']);
  // Otherwise the limits of the namespace's LimitRange could be lower than the requests.
  const missing = limitedResources.filter((name) => name in requests && !(name in limits));
  const added = Object.fromEntries(missing.map((name) => [name, requests[name]]));
  const resources = { ...objectAt(container, ['resources']), limits: { ...limits, ...added } };
  return withoutSecrets(missing.length === 0 ? container : { ...container, resources }) as JsonObject;
}

/** Replaces all texts of `value`, `command` and `args`, except empty ones. */
function withoutSecrets(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, key));
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutSecrets(each, name)]));
  return typeof value === 'string' && value !== '' && ['value', 'command', 'args'].includes(key) ? 'hidden' : value;
}

/** A failed request (metav1.Status). Code 0 means that there was no answer. */
export interface DryRunFailure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly { readonly field?: string; readonly message?: string }[];
}

/** Why the API server did not say whether a pod is valid. */
export type UnjudgedReason = 'DryRunForbidden' | 'DryRunRefused' | 'DryRunUnanswered';

/** The answer of the API server to the dry run of an injected pod. */
export interface JudgedPod {
  /** The description of the pod, e.g. `a minimal pod`. */
  readonly kind: string;
  readonly answer: 'Valid' | 'Invalid' | UnjudgedReason;
  /** The fields and errors of an invalid pod, or the message of the failure. */
  readonly message: string;
}

/** The maximum length of a message, in characters. It may quote an author's text. */
const longestMessage = 600;

/** Reads the answer to a dry run. @param failure undefined if the API server accepted the pod */
export function judgedPod(kind: string, failure?: DryRunFailure): JudgedPod {
  if (failure === undefined) return { kind, answer: 'Valid', message: '' };
  const { code, reason, message, causes } = failure;
  // The default reason of ValidatingAdmissionPolicies is Invalid, too, but they name no field.
  const fields = causes.flatMap((cause) =>
    cause.field === undefined ? [] : [`${cause.field}: ${cause.message ?? ''}`],
  );
  if (code === 422 && reason === 'Invalid' && fields.length > 0)
    return { kind, answer: 'Invalid', message: fields.slice(0, 3).join('; ').slice(0, longestMessage) };
  return { kind, answer: unjudgedReason(failure), message: message.slice(0, longestMessage) };
}

function unjudgedReason({ code, message }: DryRunFailure): UnjudgedReason {
  if (code === 403 && message.includes(' cannot create resource "pods"')) return 'DryRunForbidden';
  return code < 400 || code === 401 || code === 429 || code >= 500 ? 'DryRunUnanswered' : 'DryRunRefused';
}

/** Reports an answer that other pods would get, too, and that the same pod may not get later. */
export function isTemporary(answer: JudgedPod['answer'] | undefined): boolean {
  return answer === 'DryRunForbidden' || answer === 'DryRunUnanswered';
}

/** What the API server says about the injected pods of a configuration. */
export interface PodsVerdict {
  /** How many injected pods are invalid, with an example; empty if none is known to be invalid. */
  readonly invalid: readonly string[];
  /** Whether every injected pod is invalid. */
  readonly isRefused: boolean;
  /** Why pods were not judged; absent if all were judged. */
  readonly unjudged?: { readonly reason: UnjudgedReason; readonly message: string };
}

/** Sums up the answers. @param count the number of injected pods, including those not judged */
export function verdictOf(judged: readonly JudgedPod[], count: number): PodsVerdict {
  const invalid = judged.filter(({ answer }) => answer === 'Invalid');
  const [first] = invalid;
  const unjudged = judged.find(({ answer }) => answer !== 'Valid' && answer !== 'Invalid');
  const unknown = 'the API server did not say whether injected pods are valid';
  const refusal = `the API server refuses ${invalid.length} of ${count} injected pods`;
  return {
    invalid: first === undefined ? [] : [`${refusal}, such as ${first.kind}: ${first.message}`],
    isRefused: count > 0 && invalid.length === count,
    ...(unjudged && {
      unjudged: {
        reason: unjudged.answer as UnjudgedReason,
        message: `${unknown}, such as ${unjudged.kind}: ${unjudged.message}`,
      },
    }),
  };
}

/** Reports whether the API server has judged all pods. */
export function isWhole(verdict: PodsVerdict | undefined): boolean {
  return verdict !== undefined && verdict.unjudged === undefined;
}

/** Says that pods are invalid: in the API server's words or, if it was not asked, in our own. */
export function invalidPods(verdict: PodsVerdict | undefined, unusable: Rehearsal['unusable']): readonly string[] {
  if (verdict !== undefined && (verdict.invalid.length > 0 || isWhole(verdict))) return verdict.invalid;
  return unusable === undefined ? [] : [`${unusable.share} are unusable: ${unusable.message}`];
}
