import { LimitError } from '../template/exec/meter.ts';
import { decide, type DecisionFacts } from './decide.ts';
import { InjectionFailure } from './injection-failure.ts';
import type { InjectionRequest } from './injection-request.ts';
import type { FailureReason, InjectionResult } from './injection-result.ts';
import type { Injector } from './injector.ts';
import { injectPod } from './inject-pod.ts';
import { objectAt } from './objects/workload-kinds.ts';
import { diffJson } from './patch/json-patch.ts';
import { isJsonObject, type JsonObject } from './patch/json-value.ts';
import { carryOver } from './pod/carry-over.ts';
import { addPodResources } from './pod/add-pod-resources.ts';
import { readPodFacts } from './pod/pod-facts.ts';
import { noStrings, type StringMap } from './pod/pod.ts';
import { OverlayError } from './render/overlay.ts';
import { readPod } from './pod/read-pod.ts';
import { withoutShared } from './safety/same-names.ts';
import type { Workload } from './pod/workload.ts';
import { findMisfits, refusalOf } from './validity/find-invalid-fields.ts';

/**
 * Injects one pod: decides, renders the templates, merges them onto the pod and finishes the
 * result. Never throws, never changes the request's pod, and is deterministic.
 * @param workload the pod's workload; if absent, it is derived from the pod
 */
export function inject(injector: Injector, request: InjectionRequest, workload?: Workload): InjectionResult {
  try {
    const decision = decide(injector.rules, factsOf(request));
    const { warnings } = decision;
    if (!decision.inject) return { outcome: 'skipped', reason: decision.reason, message: decision.message, warnings };
    const read = readPod(request.pod, request.namespace);
    const injected = injectPod(injector, request, read, workload);
    const carried = carryOver(request.pod, withoutShared(read, injected.shared), injected.pod) as JsonObject;
    const { pod, problem } = fitted(injector, request.pod, carried);
    return {
      outcome: 'injected',
      pod,
      patch: diffJson(request.pod, pod),
      warnings: [...warnings, ...injected.warnings, ...problem],
    };
  } catch (error) {
    return { outcome: 'failed', ...failureOf(error) };
  }
}

/**
 * Injects a pod under limits that no other thread raises. If its annotations and labels make it
 * exceed them, these are at fault: with short values instead of them, or without them if no short
 * value is valid, it keeps the limits. Costs at most three times the limits.
 */
export function injectFinally(injector: Injector, request: InjectionRequest): InjectionResult {
  const result = inject(injector, request);
  if (result.outcome !== 'failed' || result.reason !== 'TemplateLimit' || !injector.guard) return result;
  const read = readPod(request.pod, request.namespace);
  // The choice of templates stays: templates that are too expensive are not the author's fault.
  const { templatesKey } = injector.family;
  const reasonWith = (replace: (strings: StringMap) => StringMap): FailureReason | undefined => {
    const { annotations, labels } = read.metadata;
    const chosen = Object.entries(annotations ?? {}).filter(([key]) => key === templatesKey);
    const others = { ...replace(annotations ?? noStrings), ...Object.fromEntries(chosen) };
    try {
      const metadata = { ...read.metadata, annotations: others, labels: replace(labels ?? noStrings) };
      injectPod(injector, request, { ...read, metadata });
      return undefined;
    } catch (error) {
      return failureOf(error).reason;
    }
  };
  const short = reasonWith((strings) => Object.fromEntries(Object.keys(strings).map((key) => [key, '1'])));
  if (short === 'TemplateLimit' || (short !== undefined && reasonWith(() => noStrings) !== undefined)) return result;
  const message = `the pod's annotations and labels are too long or too many; shorten or remove some: ${result.message}`;
  return { outcome: 'failed', reason: 'UnsafeAnnotation', message };
}

/** Adds the sidecar to the resources of a pod itself, or says that it does not fit. */
function fitted({ settings }: Injector, before: JsonObject, after: JsonObject) {
  if (!isJsonObject(objectAt(before, ['spec']).resources)) return { pod: after, problem: [] };
  const pod = settings.podResources === 'Add' ? addPodResources(after, before, after) : after;
  return { pod, problem: [refusalOf(before, pod, findMisfits)].filter((each) => each !== undefined) };
}

/** Returns what the message of an error omits, which is known where it began. */
function detailOf(error: unknown): string {
  if (error instanceof OverlayError) return error.detail;
  return error instanceof Error ? detailOf(error.cause) : '';
}

function failureOf(error: unknown): {
  readonly reason: FailureReason;
  readonly message: string;
  readonly detail?: string;
} {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof InjectionFailure) {
    const detail = detailOf(error);
    return { reason: error.reason, message, ...(detail !== '' && { detail }) };
  }
  if (error instanceof LimitError)
    return { reason: 'TemplateLimit', message: `failed to run injection template: ${message}` };
  return { reason: 'Internal', message: `unexpected: ${message}` };
}

/** Returns the pod's facts. Rejects an unreadable pod with Go's message where Go has a message. */
function factsOf({ pod, namespace }: InjectionRequest): DecisionFacts {
  try {
    return readPodFacts(pod, namespace);
  } catch (error) {
    if (error instanceof InjectionFailure) readPod(pod, namespace);
    throw error;
  }
}
