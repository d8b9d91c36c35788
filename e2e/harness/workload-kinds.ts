import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { barePod, type WorkloadOptions } from './workloads.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

/** An annotation that delays readiness, so that an observer sees how pods are replaced. */
const slowPods = { 'e2e.sidecar-injector.io/ready-after': '600ms' };

/** Builds a workload whose pods become ready slowly. A DaemonSet runs on both nodes. */
export function workload(
  kind: WorkloadKind,
  namespace: string,
  name: string,
  options: WorkloadOptions & { update?: Record<string, unknown> } = {},
): KubernetesObject {
  const { replicas = 1, update = {}, annotations } = options;
  const { spec, metadata } = barePod(namespace, name, { ...options, annotations: { ...slowPods, ...annotations } });
  const template = { metadata: { labels: metadata.labels, annotations: metadata.annotations }, spec };
  const common = { selector: { matchLabels: { app: name } }, template };
  const own = {
    Deployment: { replicas, strategy: update },
    // Ordered updates would hang, because the controller would wait for a crashing pod to be ready.
    StatefulSet: { replicas, serviceName: name, podManagementPolicy: 'Parallel', updateStrategy: update },
    DaemonSet: { updateStrategy: update },
  };
  return { apiVersion: 'apps/v1', kind, metadata: { name, namespace }, spec: { ...common, ...own[kind] } };
}

export async function createAll({ client }: ScenarioContext, objects: readonly KubernetesObject[]): Promise<void> {
  await Promise.all(objects.map((object) => client.create(object)));
}

/** Returns `namespace/name`. */
export function nameOf({ metadata: { namespace = '', name = '' } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}

const kinds: readonly WorkloadKind[] = ['Deployment', 'StatefulSet', 'DaemonSet'];

/** Restarts all workloads in namespaces, as kubectl does. Returns their names. */
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
