import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectAt, type PodTemplatePaths } from '../../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';

/** A pod as its controller would send it to the API server. */
export interface CreatedPod {
  readonly pod: JsonObject;
  readonly namespace: string;
}

/** A placeholder for a hash that a controller will generate. */
const anyHash = '0000000000';

/**
 * Returns the pod that an object is or creates, with the fields that the controller adds.
 * @param paths where the object contains the pod
 * @param namespace the namespace of an object without `metadata.namespace`
 */
export function createdPod(object: KubernetesObject, paths: PodTemplatePaths, namespace: string): CreatedPod {
  // A manifest may contain `namespace:` without a value.
  const own = object.metadata.namespace ?? namespace;
  const metadata = objectAt(object, paths.metadata);
  const spec = objectAt(object, paths.spec);
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, namespace: own }, spec };
  if (object.kind === 'Pod') return { pod, namespace: own };
  const { labels, ...made } = controllerMetadata(object, object.metadata.name ?? '');
  const allLabels = { ...objectAt(metadata, ['labels']), ...labels };
  return { pod: { ...pod, metadata: { ...pod.metadata, ...made, labels: allLabels } }, namespace: own };
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
