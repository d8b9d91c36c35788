import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { barePod, type WorkloadOptions } from './workloads.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

/** A pod takes so long to become ready that whoever looks can see that its workload is being replaced. */
const slowly = { 'e2e.sidecar-injector.io/ready-after': '600ms' };

/** A workload whose pods take a moment to become ready; those of a DaemonSet run on both nodes. */
export function workload(
  kind: WorkloadKind,
  namespace: string,
  name: string,
  options: WorkloadOptions & { update?: Record<string, unknown> } = {},
): KubernetesObject {
  const { replicas = 1, update = {}, annotations } = options;
  const { spec, metadata } = barePod(namespace, name, { ...options, annotations: { ...slowly, ...annotations } });
  const template = { metadata: { labels: metadata.labels, annotations: metadata.annotations }, spec };
  const common = { selector: { matchLabels: { app: name } }, template };
  const own = {
    Deployment: { replicas, strategy: update },
    // In order, one that crashes would stay for ever: the controller waits for it before it replaces it.
    StatefulSet: { replicas, serviceName: name, podManagementPolicy: 'Parallel', updateStrategy: update },
    DaemonSet: { updateStrategy: update },
  };
  return { apiVersion: 'apps/v1', kind, metadata: { name, namespace }, spec: { ...common, ...own[kind] } };
}

export async function createAll({ client }: ScenarioContext, objects: readonly KubernetesObject[]): Promise<void> {
  await Promise.all(objects.map((object) => client.create(object)));
}

/** `namespace/name`. */
export function nameOf({ metadata: { namespace = '', name = '' } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}

const kinds: readonly WorkloadKind[] = ['Deployment', 'StatefulSet', 'DaemonSet'];

/** Restarts every workload of some namespaces at once, as `kubectl rollout restart` does. Returns their names (`namespace/name`). */
export async function restartAllAtOnce({ client }: ScenarioContext, namespaces: readonly string[]): Promise<string[]> {
  const restartedAt = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() };
  const patch = { spec: { template: { metadata: { annotations: restartedAt } } } };
  const names: string[] = [];
  const restarts: Promise<unknown>[] = [];
  for (const namespace of namespaces) {
    for (const kind of kinds) {
      for (const object of (await client.listAll(resourceKind('apps/v1', kind), { namespace })).items) {
        names.push(`${namespace}/${object.metadata.name}`);
        restarts.push(client.patch(object, 'merge', patch));
      }
    }
  }
  await Promise.all(restarts);
  return names;
}
