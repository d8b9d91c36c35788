import type { KubernetesObject, ObjectMeta, OwnerReference } from '../../api/kubernetes/kubernetes.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { objectAt, podTemplatePaths } from '../../inject/objects/workload-kinds.ts';

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
  const place = podTemplatePaths(object);
  if (place === undefined) return undefined;
  const { kind } = object;
  const { name = '', generateName } = object.metadata;
  // A manifest may say `namespace:` with nothing behind it.
  const own = object.metadata.namespace ?? namespace;
  const metadata = objectAt(object, place.metadata);
  const spec = objectAt(object, place.spec);
  const subject = { kind, namespace: own, name: name === '' ? (generateName ?? '') : name, notes: [] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, namespace: own }, spec };
  if (kind === 'Pod') return { ...subject, pod };
  // Where a person changes the pods: a controlled ReplicaSet's template is its Deployment's, a controlled Job's its CronJob's.
  const owner = controllerOf(object.metadata) ?? { kind, name };
  const { labels, ...made } = controllerMetadata(object, name);
  const allLabels = { ...objectAt(metadata, ['labels']), ...labels };
  return {
    ...subject,
    template: { kind: owner.kind, name: owner.name },
    pod: { ...pod, metadata: { ...pod.metadata, ...made, labels: allLabels } },
  };
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
  const made = (owner: string, ownerKind: string, labels: JsonObject): JsonObject & { labels: JsonObject } => ({
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

/** The controller of an object; undefined for one that nobody controls. */
export function controllerOf({ ownerReferences = [] }: ObjectMeta): OwnerReference | undefined {
  return ownerReferences.find(({ controller }) => controller === true);
}
