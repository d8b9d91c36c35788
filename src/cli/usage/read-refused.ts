import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { workloadOfPod } from '../../routing/workload-key.ts';
import { subjectOf } from '../check/subject.ts';
import { lacksPods, podCreators } from '../../operator/pods/wanted-pods.ts';

/** A workload that asks for injection, and whose pods the API server refuses to create. */
export interface RefusedWorkload {
  readonly namespace: string;
  /** `Deployment/web`. */
  readonly workload: string;
  /** The kind and name of the object whose controller creates the pods. */
  readonly kind: string;
  readonly name: string;
  /** The latest answer of the API server, with the prefix of the controller. */
  readonly message: string;
}

/** The fields of an Event (core/v1) that are read. */
interface FailedCreate extends KubernetesObject {
  readonly involvedObject: { apiVersion: string; kind: string; namespace: string; name: string };
  readonly message?: string;
  readonly lastTimestamp?: string | null;
}

/** The maximum number of objects per namespace, whose authors can write any number of Events. */
const perNamespace = 100;

/**
 * Finds the workloads that lack pods because the API server refuses them, for any cause: the
 * Events of controllers name the objects, and only objects that still lack pods count.
 * @param isInjected whether a pod would be injected
 * @returns the workloads, and a remark if they cannot be read
 */
export async function readRefused(
  client: Pick<ApiClient, 'listAll' | 'find'>,
  only: string | undefined,
  isInjected: (pod: KubernetesObject) => boolean,
): Promise<{ readonly refused: readonly RefusedWorkload[]; readonly notes: readonly string[] }> {
  const refused: RefusedWorkload[] = [];
  const hindrances: string[] = [];
  const unlessForbidden = async <T>(read: Promise<T>): Promise<T | undefined> => {
    try {
      return await read;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 403) throw error;
      hindrances.push(error.message);
      return undefined;
    }
  };
  const events = (await unlessForbidden(latestEvents(client, only))) ?? [];
  for (const { involvedObject, message = '' } of events) {
    const { kind, namespace, name } = involvedObject;
    const resource = podCreators.get(kind);
    const owner = resource && (await unlessForbidden(client.find(resource, name, { namespace })));
    if (owner === undefined || !lacksPods(owner)) continue;
    const pod = subjectOf(owner, namespace)?.pod as KubernetesObject | undefined;
    if (pod === undefined || !isInjected(pod)) continue;
    const workload = workloadOfPod(pod, namespace);
    refused.push({ namespace, workload: `${workload.kind}/${workload.name}`, kind, name, message });
  }
  const [first] = hindrances;
  const notes = first === undefined ? [] : [`not all workloads whose pods are refused are listed: ${first}`];
  return { refused, notes };
}

/** Returns the latest Event of each object that could not create a pod. */
async function latestEvents(client: Pick<ApiClient, 'listAll'>, only: string | undefined): Promise<FailedCreate[]> {
  const options = { namespace: only, fieldSelector: 'reason=FailedCreate' };
  const { items } = await client.listAll<FailedCreate>(resourceKind('v1', 'Event'), options);
  const latest = new Map<string, FailedCreate>();
  for (const event of items) {
    const { kind, namespace, name } = event.involvedObject;
    if (!podCreators.has(kind)) continue;
    const key = `${namespace}/${kind}/${name}`;
    if ((latest.get(key)?.lastTimestamp ?? '') <= (event.lastTimestamp ?? '')) latest.set(key, event);
  }
  const counts = new Map<string, number>();
  return [...latest.values()].filter(({ involvedObject: { namespace } }) => {
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    return (counts.get(namespace) ?? 0) <= perNamespace;
  });
}
