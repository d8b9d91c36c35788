import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind, resourcePath } from '../../src/kube/resource-kinds.ts';
import { objectOf } from './apply.ts';
import type { Pod } from './pod.ts';
import { untilActive } from './until-active.ts';
import { waitFor } from './wait-for.ts';

/** The label of namespaces that the cleanup of a scenario deletes. */
export const scenarioLabel = 'e2e.sidecar-injector.io/scenario';

/** Waits until an earlier run's namespace is deleted. */
export async function waitForEarlierNamespace(client: ApiClient, name: string): Promise<void> {
  await waitFor(`the earlier namespace ${name} to be deleted`, async () => {
    const found = await client.find(resourceKind('v1', 'Namespace'), name);
    return found?.metadata.deletionTimestamp === undefined;
  });
}

/** Waits until the namespaces of all earlier scenarios are deleted. */
export async function waitForEarlierScenarios(client: ApiClient): Promise<void> {
  await waitFor('the namespaces of earlier scenarios to be deleted', async () => {
    const labelSelector = `${scenarioLabel}=true`;
    return (await client.list(resourceKind('v1', 'Namespace'), { labelSelector })).items.length === 0;
  });
}

/** Creates a namespace and waits for its default ServiceAccount, which pods need. */
export async function createNamespace(client: ApiClient, name: string, labels: Record<string, string> = {}) {
  await waitForEarlierNamespace(client, name);
  const metadata = { name, labels: { [scenarioLabel]: 'true', ...labels } };
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata });
  await waitFor(`namespace ${name} to have its default ServiceAccount`, () =>
    client.find(resourceKind('v1', 'ServiceAccount'), 'default', { namespace: name }),
  );
}

/** Sets labels of a namespace (null removes a label). Waits until the API server uses them. */
export async function labelNamespace(client: ApiClient, name: string, labels: Record<string, string | null>) {
  await client.patch(objectOf('v1', 'Namespace', name), 'merge', { metadata: { labels } });
  await untilActive(client, { namespace: { name, labels } });
}

export interface WorkloadOptions {
  replicas?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Fields that override fields of the pod's spec. */
  spec?: Record<string, unknown>;
}

/** Builds a Deployment whose pods are like {@link barePod}. */
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

/** A part of a pod's spec that prevents scheduling, so that fake kubelets do not run the pod. */
export const neverScheduled = { schedulingGates: [{ name: 'e2e.sidecar-injector.io/never' }] };

/** Creates a Deployment and waits until its pods are ready. */
export async function createDeployment(client: ApiClient, namespace: string, name: string, options?: WorkloadOptions) {
  await client.create(deployment(namespace, name, options));
  await waitForDeployment(client, namespace, name);
}

/** Builds a pod with one container, which sleeps and has port 8080. */
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

/** Restarts a Deployment as `kubectl rollout restart` does, and waits for completion. */
export async function restartDeployment(client: ApiClient, namespace: string, name: string, timeout?: number) {
  const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() } } };
  await client.patch(objectOf('apps/v1', 'Deployment', name, namespace), 'merge', { spec: { template } });
  await waitForDeployment(client, namespace, name, timeout);
}

/** Waits until all replicas of a Deployment are updated and available, and no other pod remains. */
export async function waitForDeployment(client: ApiClient, namespace: string, name: string, timeout = 150_000) {
  const isComplete = async () => {
    const kind = resourceKind('apps/v1', 'Deployment');
    const { metadata, spec, status } = await client.get<Deployment>(kind, name, { namespace });
    const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
    if (status?.observedGeneration !== metadata.generation) return false;
    if (!counts.every((count) => (count ?? 0) === spec.replicas)) return false;
    return (await podsMatching(client, namespace, spec.selector.matchLabels)).length === spec.replicas;
  };
  await waitFor(`deployment ${namespace}/${name} to be complete`, isComplete, { timeout });
}

/** Deletes all pods of a namespace with one request. */
export async function deletePods(client: ApiClient, namespace: string): Promise<void> {
  const body = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 });
  await client.request('DELETE', resourcePath(resourceKind('v1', 'Pod'), { namespace }), { body });
}

/** Returns the pods of a namespace, or only pods with a label `app`, oldest first. */
export async function podsOf(client: ApiClient, namespace: string, app?: string): Promise<Pod[]> {
  return podsMatching(client, namespace, app === undefined ? {} : { app });
}

/** Returns the pods of a namespace with these labels, oldest first. */
export async function podsMatching(client: ApiClient, namespace: string, labels: Record<string, string>) {
  const labelSelector = Object.entries(labels)
    .map((pair) => pair.join('='))
    .join();
  const { items } = await client.listAll<Pod>(resourceKind('v1', 'Pod'), { namespace, labelSelector });
  const age = (pod: Pod) => `${pod.metadata.creationTimestamp ?? ''} ${pod.metadata.name ?? ''}`;
  return items.sort((left, right) => age(left).localeCompare(age(right)));
}
