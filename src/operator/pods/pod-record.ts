import { injectedByAnnotation } from '../../api/names.ts';
import { parsePodUpdate, type PodUpdate, updateAnnotation } from '../../api/revision-tag/update-annotation.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { gateIn } from '../../explain/stored-pod.ts';
import type { DecisionFacts } from '../../inject/decide.ts';
import { readPodFacts } from '../../inject/pod/pod-facts.ts';
import { podHealth, readySince } from './pod-health.ts';
import type { PodGroup, PodRecord } from '../usage/pod-group.ts';
import { cut, injectedByLimit, mirrorAnnotation } from '../usage/pod-traits.ts';

/** The fields of a new pod that are kept until it is examined. */
export interface ArrivedPod extends DecisionFacts {
  readonly record: PodRecord;
  /** The uid of the pod's controller, or the pod's own uid if it has no controller. */
  readonly maker: string;
}

/** The maximum number of labels. Pods with more labels are ignored, to bound memory. */
const labelLimit = 64;

/**
 * Returns the part of a pod that is cached. Its size is bounded.
 * @param group the group of pods with equal traits; undefined if the pod is not counted
 */
export function podRecord({ apiVersion, kind, metadata, spec, status }: KubernetesObject, group?: PodGroup): PodRecord {
  const { name = '', namespace = '', uid = '', resourceVersion = '', creationTimestamp = '' } = metadata;
  // Pods in a group share the strings of the group.
  const injectedBy =
    metadata.annotations?.[injectedByAnnotation] &&
    (group?.traits.injectedBy ?? cut(metadata.annotations[injectedByAnnotation], injectedByLimit));
  const kept = { name, namespace: group?.traits.namespace ?? namespace, uid, resourceVersion };
  if (group === undefined) {
    return injectedBy === undefined
      ? { apiVersion, kind, metadata: kept }
      : { apiVersion, kind, metadata: kept, injectedBy };
  }
  // A rounded time is a small integer, which takes no heap object.
  const createdAt = Math.floor(Date.parse(creationTimestamp) / 1000);
  const health = podHealth(status);
  const since = readySince(status) ?? createdAt;
  const { nodeName: node } = (spec ?? {}) as { readonly nodeName?: string };
  const update = updateOf(metadata.annotations?.[updateAnnotation]);
  if (update !== undefined && injectedBy !== undefined)
    return { apiVersion, kind, metadata: kept, group, node, createdAt, health, since, injectedBy, update };
  // Avoid spread syntax: it creates larger objects, and there are tens of thousands of records.
  return injectedBy === undefined
    ? { apiVersion, kind, metadata: kept, group, node, createdAt, health, since }
    : { apiVersion, kind, metadata: kept, group, node, createdAt, health, since, injectedBy };
}

/** Returns an update without what the pod was before. */
function updateOf(text: string | undefined): PodUpdate | undefined {
  const found = parsePodUpdate(text);
  if (found === undefined) return undefined;
  const { before, ...update } = found;
  return before === undefined && update.failed === undefined ? undefined : update;
}

/**
 * Returns the fields that explain why a pod was not injected; undefined for mirrors of static pods,
 * which no webhook can change, for held pods, which will be replaced (failurePolicy Hold), for pods
 * that are being deleted, and for pods with many labels.
 * @param annotationNames the names of the annotations to keep
 */
export function arrivedPod(
  pod: KubernetesObject,
  record: PodRecord,
  annotationNames: readonly string[],
): ArrivedPod | undefined {
  const { namespace, hostNetwork, windows, labels, annotations } = readPodFacts(pod, '');
  const { deletionTimestamp, ownerReferences = [], uid = '' } = pod.metadata;
  if (deletionTimestamp !== undefined || Object.hasOwn(annotations, mirrorAnnotation)) return undefined;
  if (gateIn(pod) !== undefined) return undefined;
  if (Object.keys(labels).length > labelLimit) return undefined;
  const relevant = annotationNames.flatMap((name): [string, string][] => {
    const value = annotations[name];
    return value === undefined ? [] : [[name, value.slice(0, 32)]];
  });
  const maker = ownerReferences.find(({ controller }) => controller === true)?.uid ?? uid;
  const kept = Object.fromEntries(relevant);
  return { record, maker, namespace, hostNetwork, ...(windows && { windows }), labels, annotations: kept };
}
