import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

/** Where an object of a kind holds the metadata and the spec of its pods. */
export interface PodTemplatePlace {
  readonly metadata: readonly string[];
  readonly spec: readonly string[];
}

const atRoot: PodTemplatePlace = { metadata: ['metadata'], spec: ['spec'] };
const inTemplate: PodTemplatePlace = { metadata: ['spec', 'template', 'metadata'], spec: ['spec', 'template', 'spec'] };
const cronJobTemplate = ['spec', 'jobTemplate', 'spec', 'template'] as const;
const inCronJob: PodTemplatePlace = { metadata: [...cronJobTemplate, 'metadata'], spec: [...cronJobTemplate, 'spec'] };

const kinds: ReadonlyMap<string, PodTemplatePlace> = new Map([
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

/** Where a workload holds its pods; `undefined` for objects that are none. */
export function podTemplatePlace(object: JsonObject): PodTemplatePlace | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const slash = apiVersion.indexOf('/');
  return kinds.get(`${slash < 0 ? '' : apiVersion.slice(0, slash)}/${kind}`);
}

/** The items of a v1 List; `undefined` for other objects. */
export function listItems(object: JsonObject): readonly unknown[] | undefined {
  if (object.apiVersion !== 'v1' || object.kind !== 'List') return undefined;
  return Array.isArray(object.items) ? (object.items as unknown[]) : [];
}

/** The object at a path; an empty one where there is none. */
export function objectAt(root: JsonObject, path: readonly string[]): JsonObject {
  let value: unknown = root;
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isJsonObject(value) ? value : {};
}
