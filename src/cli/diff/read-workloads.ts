import { isFinished, replicasOf } from '../../operator/pods/wanted-pods.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectedByOf } from '../../explain/stored-pod.ts';
import { without } from '../../inject/pod/without.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { pods } from '../../operator/cluster-view.ts';
import { type RolloutWorkload, workloadKey, workloadOfPod } from '../../routing/workload-key.ts';
import { controllerOf, type Subject, subjectOf } from '../check/subject.ts';
import { forEachItem } from '../usage/installation.ts';

/** A workload, with one of its live pods, and the pod of its template if it has one. */
export interface DiffWorkload extends RolloutWorkload {
  /** The number of live pods, or of the pods that the spec asks for. */
  readonly pods: number;
  readonly stored?: KubernetesObject;
  /** The nodes of the live pods. */
  readonly onNodes?: Set<string>;
  readonly template?: Subject;
}

/** The workloads of a cluster. */
export interface ReadWorkloads {
  readonly workloads: readonly DiffWorkload[];
  /** `N.<hash8>` of each configuration that injected one of the pods. */
  readonly entries: ReadonlySet<string>;
  readonly notes: readonly string[];
}

const templateKinds = [
  resourceKind('apps/v1', 'Deployment'),
  resourceKind('apps/v1', 'StatefulSet'),
  resourceKind('apps/v1', 'DaemonSet'),
  resourceKind('batch/v1', 'CronJob'),
  resourceKind('batch/v1', 'Job'),
  resourceKind('apps/v1', 'ReplicaSet'),
  resourceKind('v1', 'ReplicationController'),
];

/**
 * Reads the workloads of a cluster page by page, and keeps one pod of each: the newest.
 * @param progress receives what was read so far, in words
 */
export async function readWorkloads(
  client: Pick<ApiClient, 'list'>,
  namespace: string | undefined,
  progress: (text: string) => void,
): Promise<ReadWorkloads> {
  const found = new Map<string, DiffWorkload>();
  const entries = new Set<string>();
  const notes: string[] = [];
  // A page of pods is 1 to 2 MB of JSON.
  const pages = { namespace, limit: 100 };
  let count = 0;
  await forEachItem(client, pods, pages, (pod) => {
    count += 1;
    if (count % 500 === 0) progress(`${count} pods read`);
    if (hasEnded(pod)) return;
    const workload = workloadOfPod(pod, pod.metadata.namespace ?? '');
    const key = workloadKey(workload);
    const before = found.get(key);
    const isNewer = (before?.stored?.metadata.creationTimestamp ?? '') <= (pod.metadata.creationTimestamp ?? '');
    const stored = isNewer ? { ...pod, metadata: without({ ...pod.metadata }, 'managedFields') } : before?.stored;
    const onNodes = before?.onNodes ?? new Set<string>();
    const { nodeName } = pod.spec as { readonly nodeName?: string };
    if (nodeName !== undefined) onNodes.add(nodeName);
    found.set(key, { ...workload, pods: (before?.pods ?? 0) + 1, ...(stored && { stored }), onNodes });
  });
  for (const { stored } of found.values()) for (const entry of stored ? injectedByOf(stored) : []) entries.add(entry);
  for (const resource of templateKinds) {
    const { kind } = resource;
    try {
      await forEachItem(client, resource, pages, (object) => {
        const { namespace: own = '', name = '' } = object.metadata;
        const key = workloadKey({ namespace: own, kind, name });
        const known = found.get(key);
        if (controllerOf(object.metadata) !== undefined || (known === undefined && isFinished(object))) return;
        const template = subjectOf(object, own);
        const workload = known ?? { namespace: own, kind, name, pods: replicasOf(object) };
        found.set(key, { ...workload, ...(template && { template }) });
      });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 403) throw error;
      notes.push(`${kind}s cannot be listed, so those without pods are missing: ${error.message}`);
    }
  }
  return { workloads: [...found.values()], entries, notes };
}

/** Reports whether a pod runs no more, or is being deleted. */
export function hasEnded({ metadata, status }: KubernetesObject): boolean {
  const { phase } = (status ?? {}) as { readonly phase?: unknown };
  return metadata.deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed';
}
