import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { knownKind, resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import { namesThere, nearestName } from '../../explain/nearest-name.ts';
import { uninjectPod } from '../../explain/uninject.ts';
import { UsageError } from '../terminal.ts';
import { requireNamespaceIn } from '../usage/installation.ts';
import { controllerOf, plainSubject, subjectOf, type Subject } from './subject.ts';
import { namespaces, pods } from '../../operator/cluster-view.ts';

/** An object named by the user: `deployment/web`. */
export interface CheckTarget {
  readonly resource: ResourceKind;
  readonly name: string;
}

/** The types that a target can have, with kubectl's abbreviations. */
const types: readonly (readonly [short: string, resource: ResourceKind])[] = [
  ['po', pods],
  ['ns', namespaces],
  ['deploy', resourceKind('apps/v1', 'Deployment')],
  ['sts', resourceKind('apps/v1', 'StatefulSet')],
  ['ds', resourceKind('apps/v1', 'DaemonSet')],
  ['cj', resourceKind('batch/v1', 'CronJob')],
  ['rs', resourceKind('apps/v1', 'ReplicaSet')],
  ['rc', resourceKind('v1', 'ReplicationController')],
  ['job', resourceKind('batch/v1', 'Job')],
];

function typeNamed(text: string): ResourceKind | undefined {
  const type = text.toLowerCase();
  return types.find(([short, { plural, kind }]) => [short, plural, kind.toLowerCase()].includes(type))?.[1];
}

const kindNames = types.map(([, { kind }]) => kind.toLowerCase());

/** Returns the type of which a text is a misspelling, if it is one. */
function typeMeant(text: string): string | undefined {
  return nearestName(text.toLowerCase().replace(/s$/, ''), kindNames);
}

/** Parses `TYPE/NAME…`, `TYPE NAME…`, or `NAME…` for pods. @throws UsageError */
export function parseTargets(texts: readonly string[]): CheckTarget[] {
  const [type = '', ...names] = texts;
  const pairs = texts.filter((text) => text.includes('/'));
  const isTyped = pairs.length === 0 && typeNamed(type) !== undefined;
  if ((pairs.length > 0 && pairs.length < texts.length) || (isTyped && names.length === 0))
    throw new UsageError(`${texts.join(' ')}: use TYPE/NAME for every object, or TYPE NAME [NAME…], not both`);
  return (isTyped ? names.map((name) => `${type}/${name}`) : texts).map(parseTarget);
}

function parseTarget(text: string): CheckTarget {
  const slash = text.indexOf('/');
  const resource = slash < 0 ? pods : typeNamed(text.slice(0, slash));
  const name = text.slice(slash + 1);
  if (resource === undefined || name === '' || name.includes('/')) {
    const meant = typeMeant(text.slice(0, Math.max(slash, 0)));
    const advice = resource !== undefined || meant === undefined ? '' : `; did you mean ${meant}/${name}?`;
    throw new UsageError(
      `${JSON.stringify(text)}: use TYPE/NAME, where TYPE is one of ${kindNames.join(', ')}${advice}`,
    );
  }
  return { resource, name };
}

/**
 * Returns the pods to check for a target. For a namespace, these are a pod without labels and the
 * pod of each object that has no controller.
 * @throws ApiError when the target does not exist or cannot be read
 */
export async function findSubjects(
  client: Pick<ApiClient, 'find' | 'listAll'>,
  { resource, name }: CheckTarget,
  namespace: string,
): Promise<Subject[]> {
  if (resource === namespaces) {
    await existing(client, namespaces, name);
    return [plainSubject(name), ...(await subjectsIn(client, name))];
  }
  const object = await existing(client, resource, name, namespace);
  const subject = resource === pods ? await storedPod(client, object) : subjectOf(object, namespace);
  return subject === undefined ? [] : [subject];
}

/** Reads the object. @throws UsageError that lists the existing names */
async function existing(
  client: Pick<ApiClient, 'find' | 'listAll'>,
  resource: ResourceKind,
  name: string,
  namespace?: string,
): Promise<KubernetesObject> {
  const found = await client.find(resource, name, { namespace });
  if (found !== undefined) return found;
  if (resource !== namespaces) await requireNamespaceIn(client, namespace);
  const { items } = await client.listAll(resource, { namespace });
  const where = namespace === undefined || resource === namespaces ? '' : ` in namespace ${namespace}`;
  const names = items.map((each) => each.metadata.name ?? '');
  // Without a slash, a misspelt type was read as the name of a pod.
  const type = resource === pods ? typeMeant(name) : undefined;
  const advice = type === undefined ? '' : `; for the type ${type}, write ${type}/NAME`;
  throw new UsageError(`there is no ${resource.kind} ${name}${where}; ${namesThere(name, names)}${advice}`);
}

async function subjectsIn(client: Pick<ApiClient, 'listAll'>, namespace: string): Promise<Subject[]> {
  const [, , ...workloads] = types.map(([, resource]) => resource);
  const lists = await Promise.all([...workloads, pods].map((resource) => client.listAll(resource, { namespace })));
  const objects = lists.flatMap(({ items }) => items);
  return objects.flatMap((object) => {
    const subject = controllerOf(object.metadata) === undefined ? subjectOf(object, namespace) : undefined;
    if (subject === undefined) return [];
    return [object.kind === 'Pod' ? recreated(subject, object) : subject];
  });
}

/** Returns a stored pod as its author created it, as far as the pod shows that. */
function recreated(subject: Subject, stored: KubernetesObject): Subject {
  return { ...subject, pod: uninjectPod(subject.pod).pod, stored };
}

/** Returns the pod that the controller of a stored pod would create now. */
async function storedPod(client: Pick<ApiClient, 'find'>, stored: KubernetesObject): Promise<Subject | undefined> {
  const { namespace = 'default', name = '' } = stored.metadata;
  const own = subjectOf(stored, namespace);
  if (own === undefined) return undefined;
  const owner = controllerOf(stored.metadata);
  const resource = owner && knownKind(owner.apiVersion, owner.kind);
  if (owner === undefined || resource === undefined) return recreated(own, stored);
  const controller = await client.find(resource, owner.name, { namespace });
  const made = controller && subjectOf(controller, namespace);
  if (made === undefined) {
    const notes = [`${owner.kind} ${owner.name}, which created the pod, does not exist: the stored pod is checked`];
    return { ...recreated(own, stored), notes };
  }
  const notes = [`checked as a new pod of ${owner.kind} ${owner.name}`];
  return { ...made, kind: 'Pod', name, stored, notes };
}
