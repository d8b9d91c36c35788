import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { apiVersionOf, knownKind, resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import { UsageError } from '../usage-error.ts';
import { controllerOf, plainSubject, subjectOf, type Subject } from './subject.ts';
import { namespaces, pods } from '../../operator/cluster-view.ts';

/** What a person named: `deployment/web`. */
export interface CheckTarget {
  readonly resource: ResourceKind;
  readonly name: string;
}

const workloads: readonly ResourceKind[] = [
  resourceKind('apps/v1', 'Deployment'),
  resourceKind('apps/v1', 'StatefulSet'),
  resourceKind('apps/v1', 'DaemonSet'),
  resourceKind('batch/v1', 'CronJob'),
  resourceKind('apps/v1', 'ReplicaSet'),
  resourceKind('v1', 'ReplicationController'),
  resourceKind('batch/v1', 'Job'),
];

/** As kubectl abbreviates them. */
const short: Readonly<Record<string, string>> = {
  po: 'pods',
  deploy: 'deployments',
  sts: 'statefulsets',
  ds: 'daemonsets',
  cj: 'cronjobs',
  rs: 'replicasets',
  rc: 'replicationcontrollers',
  ns: 'namespaces',
};

/**
 * Reads `TYPE/NAME`; a bare NAME is a pod.
 * @throws UsageError naming the types
 */
export function parseTarget(text: string): CheckTarget {
  const slash = text.indexOf('/');
  const type = slash < 0 ? 'pod' : text.slice(0, slash).toLowerCase();
  const name = text.slice(slash + 1);
  const plural = short[type] ?? type;
  const known = [pods, namespaces, ...workloads];
  const resource = known.find((each) => each.plural === plural || each.kind.toLowerCase() === plural);
  if (resource === undefined || name === '' || name.includes('/')) {
    const types = known.map(({ kind }) => kind.toLowerCase()).join(', ');
    throw new UsageError(`${JSON.stringify(text)}: say TYPE/NAME, where TYPE is one of ${types}`);
  }
  return { resource, name };
}

/**
 * The pods that a target stands for: of a namespace one that says nothing, then those of every workload and of every pod that nobody controls.
 * @throws ApiError when it does not exist or may not be read
 */
export async function findSubjects(
  client: Pick<ApiClient, 'get' | 'find' | 'listAll'>,
  { resource, name }: CheckTarget,
  namespace: string,
): Promise<Subject[]> {
  if (resource === namespaces) {
    await client.get(namespaces, name);
    return [plainSubject(name), ...(await subjectsIn(client, name))];
  }
  const object = typed(await client.get(resource, name, { namespace }), resource);
  const subject = resource === pods ? await storedPod(client, object) : subjectOf(object, namespace);
  return subject === undefined ? [] : [subject];
}

async function subjectsIn(client: Pick<ApiClient, 'listAll'>, namespace: string): Promise<Subject[]> {
  const lists = await Promise.all(
    [...workloads, pods].map(async (resource) => {
      const { items } = await client.listAll(resource, { namespace });
      return items.map((object) => typed(object, resource));
    }),
  );
  return lists.flat().flatMap((object) => {
    const subject = controllerOf(object.metadata) === undefined ? subjectOf(object, namespace) : undefined;
    if (subject === undefined) return [];
    return [object.kind === 'Pod' ? { ...subject, stored: object } : subject];
  });
}

/** A pod that a controller made is made again from the controller's template, not from itself. */
async function storedPod(client: Pick<ApiClient, 'find'>, stored: KubernetesObject): Promise<Subject | undefined> {
  const { namespace = 'default', name = '' } = stored.metadata;
  const own = subjectOf(stored, namespace);
  if (own === undefined) return undefined;
  const owner = controllerOf(stored.metadata);
  const resource = owner && knownKind(owner.apiVersion, owner.kind);
  if (owner === undefined || resource === undefined) return { ...own, stored };
  const controller = await client.find(resource, owner.name, { namespace });
  const made = controller && subjectOf(typed(controller, resource), namespace);
  if (made === undefined) {
    const notes = [`${owner.kind} ${owner.name}, which made it, is not there: the pod is taken as it is`];
    return { ...own, stored, notes };
  }
  const notes = [`asked for a pod of ${owner.kind} ${owner.name} as its template is now`];
  return { ...made, kind: 'Pod', name, stored, notes };
}

/** The items of a list carry neither. */
function typed(object: KubernetesObject, resource: ResourceKind): KubernetesObject {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
