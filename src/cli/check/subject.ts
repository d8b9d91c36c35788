import type { KubernetesObject, ObjectMeta, OwnerReference } from '../../api/kubernetes/kubernetes.ts';
import { createdPod } from '../../explain/files/created-pod.ts';
import { shownOwner } from '../../api/kubernetes/workload-behind.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { podTemplatePaths } from '../../inject/objects/workload-kinds.ts';
import { workloadOfPod } from '../../routing/workload-key.ts';
import { type Recreation, recreationOf } from './recreation.ts';

/** An object to check, and the pod that it creates. */
export interface Subject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The pod as its controller would send it to the API server. */
  readonly pod: JsonObject;
  /** The stored pod, when the subject is an existing pod. */
  readonly stored?: KubernetesObject;
  /** The workload with the pod template; undefined for a pod without a controller. */
  readonly template?: { readonly kind: string; readonly name: string };
  /** The object that contains the pod template. */
  readonly workload?: KubernetesObject;
  /** How the pods of the top-level owner are replaced; undefined for a namespace. */
  readonly recreation?: Recreation;
  /** Remarks on how the pod was found. */
  readonly notes: readonly string[];
}

/**
 * Returns the pod that an object is or creates, with the fields that the controller adds; undefined
 * if the object creates no pod.
 * @param namespace the namespace of an object without `metadata.namespace`
 */
export function subjectOf(object: KubernetesObject, namespace: string): Subject | undefined {
  const paths = podTemplatePaths(object);
  if (paths === undefined) return undefined;
  const { kind } = object;
  const { name = '', generateName } = object.metadata;
  const created = createdPod(object, paths, namespace);
  // The top-level owner has the template to edit: a ReplicaSet's Deployment, a Job's CronJob.
  const owner = controllerOf(object.metadata);
  const top = owner && (kind === 'Pod' ? workloadOfPod(object, created.namespace) : owner);
  const stored = top === undefined ? object : { apiVersion: '', kind: top.kind, metadata: { name: top.name } };
  const recreation = recreationOf(stored, created.namespace);
  const subject = { kind, ...created, name: name === '' ? (generateName ?? '') : name, recreation, notes: [] };
  if (kind === 'Pod') return subject;
  return { ...subject, template: { kind: owner?.kind ?? kind, name: owner?.name ?? name }, workload: object };
}

/** Returns a pod without labels and annotations. */
export function plainSubject(namespace: string): Subject {
  return {
    kind: 'Namespace',
    namespace,
    name: namespace,
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a-pod-without-labels', namespace },
      spec: { containers: [{ name: 'app', image: 'app' }] },
    },
    notes: ['checked as a pod without labels and annotations'],
  };
}

/** Returns the controller of an object, with a kind and name that may be printed. */
export function controllerOf({ ownerReferences = [] }: ObjectMeta): OwnerReference | undefined {
  const found = ownerReferences.find(({ controller }) => controller === true);
  return found && { ...found, ...shownOwner(found.kind, found.name) };
}
