import { injectedByAnnotation } from '../api/names.ts';
import { updateAnnotation } from '../api/revision-tag/update-annotation.ts';
import { decide } from '../inject/decide.ts';
import { inject } from '../inject/inject.ts';
import type { InjectionRequest } from '../inject/injection-request.ts';
import type { Injector } from '../inject/injector.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { without } from '../inject/pod/without.ts';
import { readPodFacts } from '../inject/pod/pod-facts.ts';
import { creatableMetadata, withServerDefaults } from '../inject/kubernetes/admission-pod.ts';
import { refusalOf } from '../inject/validity/find-invalid-fields.ts';
import { type ContainerDefaults, limitRangerAnnotation, withContainerDefaults } from './pod-resources.ts';
import { withEntries } from './explain-creation.ts';
import { changedPaths, mergeChanges } from './pod-changes.ts';
import { uninjectPod } from './uninject.ts';

/** An injector, and the name and hash of its configuration. */
export interface NamedInjector {
  readonly name: string;
  readonly hash: string;
  readonly injector: Injector;
}

/** The environment in which pods are created. */
export interface CreationContext {
  readonly request: Omit<InjectionRequest, 'pod'>;
  readonly containerDefaults: ContainerDefaults;
}

/** What an injector does with a pod, and the pod that the API server then stores. */
export interface PredictedPod {
  readonly outcome: 'Injected' | 'NotInjected' | 'Refused';
  readonly reason: string;
  readonly message: string;
  /** Undefined if the pod is refused. */
  readonly pod?: JsonObject;
}

/** Predicts the stored pod. @param pod the pod as the webhook receives it */
export function predictPod(
  pod: JsonObject,
  { name, hash, injector }: NamedInjector,
  context: CreationContext,
): PredictedPod {
  const { request, containerDefaults } = context;
  const result = inject(injector, { ...request, pod });
  if (result.outcome === 'failed') return { outcome: 'Refused', reason: result.reason, message: result.message };
  if (result.outcome === 'skipped')
    return { outcome: 'NotInjected', reason: result.reason, message: result.message, pod };
  const { reason, message } = decide(injector.rules, readPodFacts(pod, request.namespace));
  const marked = withEntries(result.pod, [...entriesOf(result.pod), `${name}.${hash}`]);
  const stored = withContainerDefaults(withServerDefaults(marked), containerDefaults);
  const refusal = refusalOf(pod, stored);
  if (refusal !== undefined) return { outcome: 'Refused', reason: 'InvalidPod', message: refusal };
  return { outcome: 'Injected', reason, message, pod: stored };
}

/** Returns the entries of the annotation in which each family records its configuration. */
function entriesOf(pod: JsonObject): string[] {
  const list = objectAt(pod, ['metadata', 'annotations'])[injectedByAnnotation];
  return typeof list === 'string' && list !== '' ? list.split(',') : [];
}

/** A stored pod without its injection, and how to predict pods like it. */
export interface PodOrigin {
  /** The pod as webhooks receive it. */
  readonly pod: JsonObject;
  /** The paths that other webhooks or people changed after the injection. */
  readonly changedByOthers: readonly string[];
  /** The fields whose value before the injection is not known. */
  readonly lost: readonly { readonly field: string; readonly reason: string }[];
  /** Adds the changes of others to a predicted pod. */
  readonly finish: (predicted: JsonObject) => JsonObject;
}

/**
 * Returns the origin of a stored pod: removes what the injector added, injects the pod again, and
 * takes what still differs from the stored pod for a change by others.
 * @param by the injector that injected the pod; undefined if it is not known or did not inject it
 */
export function originOf(stored: JsonObject, by: NamedInjector | undefined, context: CreationContext): PodOrigin {
  const admitted = asAdmitted(stored);
  const { pod: bare, lost } = uninjectPod(admitted, by && { injector: by.injector, request: context.request });
  // Other families leave their entries before or after this one.
  const entries = entriesOf(admitted);
  const own = entries.findIndex((entry) => by !== undefined && entry.startsWith(`${by.name}.`));
  const pod = own > 0 ? withEntries(bare, entries.slice(0, own)) : bare;
  const withLater = (each: JsonObject): JsonObject =>
    own < 0 || own === entries.length - 1 ? each : withEntries(each, [...entriesOf(each), ...entries.slice(own + 1)]);
  const predicted = by === undefined ? undefined : predictPod(pod, by, context).pod;
  const again = predicted && withLater(predicted);
  const changed = again === undefined ? [] : changedPaths(again, admitted);
  const changedByOthers = changed.filter(
    // Lost fields are named as if all containers stood in one list.
    (path) =>
      !isGenerated(path) && !lost.some(({ field }) => path.replace('initContainers', 'containers').startsWith(field)),
  );
  if (again === undefined || changed.length === 0) return { pod, changedByOthers, lost, finish: withLater };
  return { pod, changedByOthers, lost, finish: (next) => mergeChanges(again, admitted, withLater(next)) };
}

/** Removes what a pod gets only after admission: its generated name, its node, its status. */
export function asAdmitted(stored: JsonObject): JsonObject {
  const { name, ...rest } = creatableMetadata(stored);
  const metadata = withoutUpdate(rest);
  const spec = without(without(objectAt(stored, ['spec']), 'nodeName'), 'ephemeralContainers');
  const named = metadata.generateName === undefined ? { name, ...metadata } : metadata;
  return { apiVersion: 'v1', kind: 'Pod', metadata: named, spec, status: {} };
}

/** Removes the record of an update in place. */
function withoutUpdate(metadata: JsonObject): JsonObject {
  const annotations = objectAt(metadata, ['annotations']);
  if (annotations[updateAnnotation] === undefined) return metadata;
  return { ...metadata, annotations: without(annotations, updateAnnotation) };
}

/** Reports whether a path is bookkeeping of the LimitRanger plugin. */
export function isGenerated(path: string): boolean {
  return path === `metadata.annotations["${limitRangerAnnotation}"]`;
}
