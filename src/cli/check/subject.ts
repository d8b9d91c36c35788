import type { KubernetesObject, ObjectMeta, OwnerReference } from '../../api/kubernetes/kubernetes.ts';
import { shownOwner } from '../../api/kubernetes/workload-behind.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { objectAt, podTemplatePaths } from '../../inject/objects/workload-kinds.ts';
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

/** A placeholder for a hash that a controller will generate. */
const anyHash = '0000000000';

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
  // A manifest may contain `namespace:` without a value.
  const own = object.metadata.namespace ?? namespace;
  const metadata = objectAt(object, paths.metadata);
  const spec = objectAt(object, paths.spec);
  // The top-level owner has the template to edit: a ReplicaSet's Deployment, a Job's CronJob.
  const owner = controllerOf(object.metadata);
  const top = owner && (kind === 'Pod' ? workloadOfPod(object, own) : owner);
  const stored = top === undefined ? object : { apiVersion: '', kind: top.kind, metadata: { name: top.name } };
  const recreation = recreationOf(stored, own);
  const subject = { kind, namespace: own, name: name === '' ? (generateName ?? '') : name, recreation, notes: [] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, namespace: own }, spec };
  if (kind === 'Pod') return { ...subject, pod };
  const { labels, ...made } = controllerMetadata(object, name);
  const allLabels = { ...objectAt(metadata, ['labels']), ...labels };
  return {
    ...subject,
    template: { kind: owner?.kind ?? kind, name: owner?.name ?? name },
    workload: object,
    pod: { ...pod, metadata: { ...pod.metadata, ...made, labels: allLabels } },
  };
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

/** Returns the metadata that the controllers of Kubernetes add to their pods. */
function controllerMetadata({ apiVersion, kind, metadata }: KubernetesObject, name: string) {
  const { uid = '' } = metadata;
  const made = (owner: string, ownerKind: string, labels: JsonObject) => ({
    generateName: `${owner}-`,
    ownerReferences: [{ uid, apiVersion, kind: ownerKind, name: owner, controller: true, blockOwnerDeletion: true }],
    labels,
  });
  switch (kind) {
    case 'Deployment':
      return made(`${name}-${anyHash}`, 'ReplicaSet', { 'pod-template-hash': anyHash });
    case 'StatefulSet': {
      const labels = {
        'apps.kubernetes.io/pod-index': '0',
        'controller-revision-hash': `${name}-${anyHash}`.slice(-63),
        'statefulset.kubernetes.io/pod-name': `${name}-0`,
      };
      return { name: `${name}-0`, ...made(name, kind, labels) };
    }
    case 'DaemonSet':
      return made(name, kind, { 'controller-revision-hash': anyHash, 'pod-template-generation': '1' });
    case 'CronJob':
      return made(`${name}-00000000`, 'Job', jobLabels(`${name}-00000000`, uid));
    case 'Job':
      return made(name, kind, jobLabels(name, uid));
    default:
      return made(name, kind, {});
  }
}

function jobLabels(job: string, uid: string): JsonObject {
  return {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': job,
    'controller-uid': uid,
    'job-name': job,
  };
}

/** Returns the controller of an object, with a kind and name that may be printed. */
export function controllerOf({ ownerReferences = [] }: ObjectMeta): OwnerReference | undefined {
  const found = ownerReferences.find(({ controller }) => controller === true);
  return found && { ...found, ...shownOwner(found.kind, found.name) };
}
