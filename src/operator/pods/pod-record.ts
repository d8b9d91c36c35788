import { injectedByAnnotation } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { DecisionFacts } from '../../inject/decide.ts';
import { readPodFacts } from '../../inject/pod/pod-facts.ts';
import { podHealth, readySince } from './pod-health.ts';
import type { PodGroup, PodRecord } from '../usage/pod-group.ts';
import { cut, injectedByLimit, mirrorAnnotation } from '../usage/pod-traits.ts';

/** What is kept of a pod that has just come, until it has been looked at. */
export interface ArrivedPod extends DecisionFacts {
  readonly record: PodRecord;
  /** What makes pods like this one: the uid of its controller, or its own. */
  readonly maker: string;
}

/** A pod with more labels is not looked at: they would be kept for a second, and a thousand pods may wait at once. */
const labelLimit = 64;

/**
 * The bounded part of a pod as the API server sends it.
 * @param group the pods that have what it has; undefined where nobody counts it
 */
export function podRecord({ apiVersion, kind, metadata, status }: KubernetesObject, group?: PodGroup): PodRecord {
  const { name = '', namespace = '', uid = '', resourceVersion = '', creationTimestamp = '' } = metadata;
  // Of a pod that is counted the group has the same texts, once for all of them.
  const injectedBy =
    metadata.annotations?.[injectedByAnnotation] &&
    (group?.traits.injectedBy ?? cut(metadata.annotations[injectedByAnnotation], injectedByLimit));
  const kept = { name, namespace: group?.traits.namespace ?? namespace, uid, resourceVersion };
  if (group === undefined) {
    return injectedBy === undefined
      ? { apiVersion, kind, metadata: kept }
      : { apiVersion, kind, metadata: kept, injectedBy };
  }
  // Rounded, a time takes no object of its own in memory.
  const createdAt = Math.floor(Date.parse(creationTimestamp) / 1000);
  const health = podHealth(status);
  const since = readySince(status) ?? createdAt;
  // Written out: an object that is made from another one takes more memory, and there are tens of thousands.
  return injectedBy === undefined
    ? { apiVersion, kind, metadata: kept, group, createdAt, health, since }
    : { apiVersion, kind, metadata: kept, group, createdAt, health, since, injectedBy };
}

/**
 * What the question why a pod was not injected depends on. Undefined where nobody asks it: for the mirror of a static pod, which no webhook can
 * change, and for a pod that is on its way out.
 * @param annotationNames the annotations that count
 */
export function arrivedPod(
  pod: KubernetesObject,
  record: PodRecord,
  annotationNames: readonly string[],
): ArrivedPod | undefined {
  const { namespace, hostNetwork, labels, annotations } = readPodFacts(pod, '');
  const { deletionTimestamp, ownerReferences = [], uid = '' } = pod.metadata;
  if (deletionTimestamp !== undefined || Object.hasOwn(annotations, mirrorAnnotation)) return undefined;
  if (Object.keys(labels).length > labelLimit) return undefined;
  const counting = annotationNames.flatMap((name): [string, string][] => {
    const value = annotations[name];
    return value === undefined ? [] : [[name, value.slice(0, 32)]];
  });
  const maker = ownerReferences.find(({ controller }) => controller === true)?.uid ?? uid;
  return { record, maker, namespace, hostNetwork, labels, annotations: Object.fromEntries(counting) };
}
