import type { KubernetesObject, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';
import { objectAt, podTemplatePlace } from '../../inject/objects/workload-kinds.ts';

/** What is asked about: an object, and the pod that comes of it. */
export interface Subject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** As it would be sent to the API server. */
  readonly pod: JsonObject;
  /** The pod as it is stored, when it is one. */
  readonly stored?: KubernetesObject;
  /** The workload whose pod template it comes from; undefined for a pod that nobody controls. */
  readonly template?: { readonly kind: string; readonly name: string };
  /** What is to be known about how the pod was found. */
  readonly notes: readonly string[];
}

/** Stands for what a controller will choose. */
const anyHash = '0000000000';

/**
 * The pod that an object is or makes, with what its controller adds; undefined when it makes none.
 * @param namespace of an object that names none
 */
export function subjectOf(object: KubernetesObject, namespace: string): Subject | undefined {
  const place = podTemplatePlace(object);
  if (place === undefined) return undefined;
  const own = object.metadata.namespace ?? namespace;
  const { kind } = object;
  const { name = '', generateName } = object.metadata;
  const metadata = objectAt(object, place.metadata);
  const spec = objectAt(object, place.spec);
  const subject = { kind, namespace: own, name: name === '' ? (generateName ?? '') : name, notes: [] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, namespace: own }, spec };
  if (kind === 'Pod') return { ...subject, pod };
  const { labels, ...made } = controllerMetadata(object, name);
  return {
    ...subject,
    template: templateOf(object),
    pod: { ...pod, metadata: { ...pod.metadata, ...made, labels: { ...labelsOf(metadata), ...labels } } },
  };
}

/** Where a person changes the pods of a workload: a controlled ReplicaSet's template is its Deployment's, a controlled Job's its CronJob's. */
function templateOf({ kind, metadata }: KubernetesObject): { kind: string; name: string } {
  const controller = controllerOf(metadata);
  return controller === undefined
    ? { kind, name: metadata.name ?? '' }
    : { kind: controller.kind, name: controller.name };
}

/** A pod whose author says nothing. */
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
    notes: ['asked for a pod that has neither labels nor annotations'],
  };
}

/** What the controllers of Kubernetes put into the metadata of their pods. */
function controllerMetadata(
  { apiVersion, kind, metadata }: KubernetesObject,
  name: string,
): JsonObject & { labels: JsonObject } {
  const { uid = '' } = metadata;
  const owned = (owner: { apiVersion: string; kind: string; name: string; uid?: string }): JsonObject => ({
    ownerReferences: [{ uid, ...owner, controller: true, blockOwnerDeletion: true }],
  });
  switch (kind) {
    case 'Deployment': {
      const replicaSet = `${name}-${anyHash}`;
      return {
        generateName: `${replicaSet}-`,
        ...owned({ apiVersion, kind: 'ReplicaSet', name: replicaSet }),
        labels: { 'pod-template-hash': anyHash },
      };
    }
    case 'StatefulSet':
      return {
        name: `${name}-0`,
        generateName: `${name}-`,
        ...owned({ apiVersion, kind, name }),
        labels: {
          'apps.kubernetes.io/pod-index': '0',
          'controller-revision-hash': `${name}-${anyHash}`.slice(-63),
          'statefulset.kubernetes.io/pod-name': `${name}-0`,
        },
      };
    case 'DaemonSet':
      return {
        generateName: `${name}-`,
        ...owned({ apiVersion, kind, name }),
        labels: { 'controller-revision-hash': anyHash, 'pod-template-generation': '1' },
      };
    case 'CronJob': {
      const job = `${name}-00000000`;
      return { generateName: `${job}-`, ...owned({ apiVersion, kind: 'Job', name: job }), labels: jobLabels(job, uid) };
    }
    case 'Job':
      return { generateName: `${name}-`, ...owned({ apiVersion, kind, name }), labels: jobLabels(name, uid) };
    default:
      return { generateName: `${name}-`, ...owned({ apiVersion, kind, name }), labels: {} };
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

function labelsOf(metadata: JsonObject): JsonObject {
  return isJsonObject(metadata.labels) ? metadata.labels : {};
}

/** The controller of an object; undefined for one that nobody controls. */
export function controllerOf({
  ownerReferences = [],
}: ObjectMeta): NonNullable<ObjectMeta['ownerReferences']>[number] | undefined {
  return ownerReferences.find(({ controller }) => controller === true);
}
