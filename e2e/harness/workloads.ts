import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind, resourcePath } from '../../src/kube/resource-kinds.ts';
import { objectOf } from './apply.ts';
import type { Pod } from './pod.ts';
import { untilActive } from './until-active.ts';
import { waitFor } from './wait-for.ts';

/** Namespaces of scenarios carry this label, by which they are found and deleted afterwards. */
export const scenarioLabel = 'e2e.sidecar-injector.io/scenario';

/** Waits until a namespace that an earlier run is still deleting has gone. */
export async function waitForEarlierNamespace(client: ApiClient, name: string): Promise<void> {
  await waitFor(`the earlier namespace ${name} to be deleted`, async () => {
    const found = await client.find(resourceKind('v1', 'Namespace'), name);
    return found?.metadata.deletionTimestamp === undefined;
  });
}

/** Creates a namespace and waits until pods may be created in it (its default ServiceAccount is there). */
export async function createNamespace(client: ApiClient, name: string, labels: Record<string, string> = {}) {
  await waitForEarlierNamespace(client, name);
  const metadata = { name, labels: { [scenarioLabel]: 'true', ...labels } };
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata });
  await waitFor(`namespace ${name} to have its default ServiceAccount`, () =>
    client.find(resourceKind('v1', 'ServiceAccount'), 'default', { namespace: name }),
  );
}

/** Sets labels of a namespace; null removes one. The API server chooses webhooks by them when this resolves. */
export async function labelNamespace(client: ApiClient, name: string, labels: Record<string, string | null>) {
  await client.patch(objectOf('v1', 'Namespace', name), 'merge', { metadata: { labels } });
  await untilActive(client, { namespace: { name, labels } });
}

export interface WorkloadOptions {
  replicas?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Merged over the pod's spec. */
  spec?: Record<string, unknown>;
}

/** A Deployment of the pods that {@link barePod} describes. */
export function deployment(namespace: string, name: string, options: WorkloadOptions = {}): KubernetesObject {
  const labels = { app: name, ...options.labels };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas: options.replicas ?? 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels, annotations: options.annotations ?? {} }, spec: podSpec(options) },
    },
  };
}

/** Of a pod's spec: the scheduler and the fake kubelets leave such pods alone. */
export const neverScheduled = { schedulingGates: [{ name: 'e2e.sidecar-injector.io/never' }] };

/** Creates a Deployment; its pods are there and ready when this resolves. */
export async function createDeployment(client: ApiClient, namespace: string, name: string, options?: WorkloadOptions) {
  await client.create(deployment(namespace, name, options));
  await waitForDeployment(client, namespace, name);
}

/** A pod with one container that sleeps and listens on 8080. */
export function barePod(namespace: string, name: string, options: WorkloadOptions = {}): KubernetesObject & Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name, ...options.labels }, annotations: options.annotations ?? {} },
    spec: podSpec(options),
  };
}

function podSpec(options: WorkloadOptions): Pod['spec'] {
  const ports = [{ containerPort: 8080 }];
  const container = { name: 'sleep', image: 'busybox:1.37', command: ['sleep', 'infinity'], ports };
  return { containers: [container], ...options.spec };
}

interface Deployment extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & { name: string; namespace: string };
  spec: { replicas: number; selector: { matchLabels: Record<string, string> } };
  status?: { observedGeneration?: number; replicas?: number; updatedReplicas?: number; availableReplicas?: number };
}

/** Restarts a Deployment the way `kubectl rollout restart` does and waits for the end of the roll-out. */
export async function restartDeployment(client: ApiClient, namespace: string, name: string) {
  const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() } } };
  await client.patch(objectOf('apps/v1', 'Deployment', name, namespace), 'merge', { spec: { template } });
  await waitForDeployment(client, namespace, name);
}

/** Waits until every replica of a Deployment is of the newest template and available, and no other pod of it is left. */
export async function waitForDeployment(client: ApiClient, namespace: string, name: string, timeout = 60_000) {
  await waitFor(
    `deployment ${namespace}/${name} to be complete`,
    async () => {
      const kind = resourceKind('apps/v1', 'Deployment');
      const { metadata, spec, status } = await client.get<Deployment>(kind, name, { namespace });
      const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
      if (status?.observedGeneration !== metadata.generation) return false;
      if (!counts.every((count) => (count ?? 0) === spec.replicas)) return false;
      return (await podsMatching(client, namespace, spec.selector.matchLabels)).length === spec.replicas;
    },
    { timeout },
  );
}

/** Deletes all pods of a namespace at once. */
export async function deletePods(client: ApiClient, namespace: string): Promise<void> {
  const body = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 });
  await client.request('DELETE', resourcePath(resourceKind('v1', 'Pod'), { namespace }), { body });
}

/** The pods with label `app`, or all of a namespace; oldest first. */
export async function podsOf(client: ApiClient, namespace: string, app?: string): Promise<Pod[]> {
  return podsMatching(client, namespace, app === undefined ? {} : { app });
}

/** The pods of a namespace with these labels, oldest first. */
export async function podsMatching(client: ApiClient, namespace: string, labels: Record<string, string>) {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const labelSelector = pairs.join(',');
  const { items } = await client.listAll<Pod>(resourceKind('v1', 'Pod'), { namespace, labelSelector });
  const age = (pod: Pod) => `${pod.metadata.creationTimestamp ?? ''} ${pod.metadata.name ?? ''}`;
  return items.sort((left, right) => age(left).localeCompare(age(right)));
}
