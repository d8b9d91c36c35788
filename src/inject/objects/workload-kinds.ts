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

const templateKinds = `/ReplicationController /DeploymentConfig apps.openshift.io/DeploymentConfig batch/Job
  apps/ReplicaSet apps/Deployment apps/DaemonSet apps/StatefulSet extensions/ReplicaSet extensions/Deployment
  extensions/DaemonSet argoproj.io/Rollout apps.kruise.io/CloneSet apps.kruise.io/StatefulSet apps.kruise.io/DaemonSet`;
const kinds: ReadonlyMap<string, PodTemplatePaths> = new Map([
  ['/Pod', atRoot],
  ['batch/CronJob', inCronJob],
  ...templateKinds.split(/\s+/).map((kind): [string, PodTemplatePaths] => [kind, inTemplate]),
]);

/** The paths of the pod templates of further kinds, by `Kind` or `group/Kind`. */
export type PodTemplates = ReadonlyMap<string, readonly string[]>;

/** Returns the paths of a workload's pod template; `undefined` for other objects. */
export function podTemplatePaths(object: JsonObject, further?: PodTemplates): PodTemplatePaths | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const slash = apiVersion.indexOf('/');
  const name = `${slash < 0 ? '' : apiVersion.slice(0, slash)}/${kind}`;
  const path = further?.get(name) ?? further?.get(kind);
  return path === undefined ? kinds.get(name) : { metadata: [...path, 'metadata'], spec: [...path, 'spec'] };
}

/** Returns the items of what kubectl reads as a List; `undefined` for other objects. */
export function listItems({ kind, items }: JsonObject): readonly unknown[] | undefined {
  if (items === null || (kind === 'List' && items === undefined)) return [];
  return Array.isArray(items) ? (items as unknown[]) : undefined;
}

/** Reports whether an object has containers at any place. */
export function hasContainers(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasContainers);
  return isJsonObject(value) && (Array.isArray(value.containers) || Object.values(value).some(hasContainers));
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
