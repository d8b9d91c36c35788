import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import type { Condition, KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind, type ResourceKind } from '../../src/kube/resource-kinds.ts';
import { waitFor } from './wait-for.ts';

/** Kinds that other objects depend on, in the order of creation. All other kinds follow. */
const early = ['Namespace', 'CustomResourceDefinition', 'ServiceAccount', 'ClusterRole', 'Role'];

type ConditionState = Pick<Condition, 'type' | 'status'>;

interface Definition extends KubernetesObject {
  spec: {
    group: string;
    names: { plural: string; kind: string };
    scope: string;
    versions: { name: string; served: boolean }[];
  };
  status?: { conditions?: ConditionState[] };
}

/** Applies objects server-side, and waits until the API server serves each CRD's resources. */
export async function applyAll(client: ApiClient, objects: KubernetesObject[]): Promise<void> {
  const rank = (object: KubernetesObject) => (early.includes(object.kind) ? early.indexOf(object.kind) : early.length);
  for (const object of [...objects].sort((left, right) => rank(left) - rank(right))) {
    await applyObject(client, object);
    if (object.kind !== 'CustomResourceDefinition') continue;
    const kind = resourceKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
    await waitFor(`${object.metadata.name ?? ''} to be served`, async () => {
      const definition = await client.get<Definition>(kind, object.metadata.name ?? '');
      if (!isTrue(definition, 'Established')) return false;
      // The API server serves the custom resources a moment after the CRD is Established.
      for (const { name: version, served } of definition.spec.versions) {
        if (served) await client.list(kindOf(definition, version), { limit: 1 });
      }
      return true;
    });
  }
}

/** Reports whether an object's condition of a type is True. */
export function isTrue({ status }: { status?: { conditions?: ConditionState[] } }, type: string): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === 'True') === true;
}

function kindOf({ spec: { group, names, scope } }: Definition, version: string): ResourceKind {
  return { group, version, plural: names.plural, kind: names.kind, namespaced: scope === 'Namespaced' };
}

/** Applies one object as `kubectl apply --server-side --force-conflicts` does. */
export async function applyObject<T extends KubernetesObject>(client: ApiClient, object: T): Promise<T> {
  return client.apply(object, { fieldManager: 'e2e', force: true });
}

/** Returns the objects of a YAML file. */
export function readObjects(file: string): KubernetesObject[] {
  return parseObjects(readFileSync(file, 'utf8'));
}

/** Returns the objects of a YAML text; skips empty documents. */
export function parseObjects(yaml: string): KubernetesObject[] {
  return loadAll(yaml).filter((document): document is KubernetesObject => document !== null && document !== undefined);
}

/** Reports whether an object does not exist. */
export async function isGone(client: ApiClient, ...which: Parameters<ApiClient['find']>): Promise<boolean> {
  return (await client.find(...which)) === undefined;
}

/** Builds an object that has only an identity, as a target for requests or a base to extend. */
export function objectOf(apiVersion: string, kind: string, name: string, namespace?: string): KubernetesObject {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}
