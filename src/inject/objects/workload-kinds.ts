import { without } from '../pod/without.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

/** The paths of the pod metadata and pod spec in an object of a kind. */
export interface PodTemplatePaths {
  readonly metadata: readonly string[];
  readonly spec: readonly string[];
}

const atRoot: PodTemplatePaths = { metadata: ['metadata'], spec: ['spec'] };
const inTemplate: PodTemplatePaths = { metadata: ['spec', 'template', 'metadata'], spec: ['spec', 'template', 'spec'] };
const cronJobTemplate = ['spec', 'jobTemplate', 'spec', 'template'] as const;
const inCronJob: PodTemplatePaths = { metadata: [...cronJobTemplate, 'metadata'], spec: [...cronJobTemplate, 'spec'] };

const kinds: ReadonlyMap<string, PodTemplatePaths> = new Map([
  ['/Pod', atRoot],
  ['/ReplicationController', inTemplate],
  ['apps/ReplicaSet', inTemplate],
  ['apps/Deployment', inTemplate],
  ['apps/DaemonSet', inTemplate],
  ['apps/StatefulSet', inTemplate],
  ['batch/Job', inTemplate],
  ['batch/CronJob', inCronJob],
  ['apps.openshift.io/DeploymentConfig', inTemplate],
  ['/DeploymentConfig', inTemplate],
]);

/** Returns the paths of a workload's pod template; `undefined` for other objects. */
export function podTemplatePaths(object: JsonObject): PodTemplatePaths | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const slash = apiVersion.indexOf('/');
  return kinds.get(`${slash < 0 ? '' : apiVersion.slice(0, slash)}/${kind}`);
}

/** Returns the items of a v1 List; `undefined` for other objects. */
export function listItems(object: JsonObject): readonly unknown[] | undefined {
  if (object.apiVersion !== 'v1' || object.kind !== 'List') return undefined;
  return Array.isArray(object.items) ? (object.items as unknown[]) : [];
}

/** Returns the object at a path, or an empty object if there is none. */
export function objectAt(root: JsonObject, path: readonly string[]): JsonObject {
  let value: unknown = root;
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isJsonObject(value) ? value : {};
}

/** Sets the object at a path; an empty or missing object does not replace a missing one. */
export function withObjectAt(root: JsonObject, [name = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const has = Object.hasOwn(root, name);
  const inner = has && isJsonObject(root[name]) ? root[name] : {};
  const changed = rest.length === 0 ? value : withObjectAt(inner, rest, value);
  if (changed === undefined) return without(root, name);
  const isAbsent = isJsonObject(changed) && Object.keys(changed).length === 0 && !isJsonObject(root[name]);
  return changed === inner || isAbsent ? root : { ...root, [name]: changed };
}
