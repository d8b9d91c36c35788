import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { AuditEvent } from './audit-log.ts';
import { isPodCreation } from './lost-admissions.ts';
import { runningContainers, type Pod } from './pod.ts';
import { barePod, type WorkloadOptions } from './workloads.ts';

/** Returns the pod that the API server would store (`kubectl create --dry-run=server`). */
export async function dryRun(client: ApiClient, pod: KubernetesObject & Pod): Promise<Pod> {
  return client.create(pod, { dryRun: true });
}

/** Returns the sorted names of the containers that a pod would have if it were created now. */
export async function containersOf(client: ApiClient, namespace: string, pod: WorkloadOptions = {}): Promise<string[]> {
  return runningContainers(await dryRun(client, barePod(namespace, 'pod', pod))).sort();
}

/** Returns the message with which the API server refuses a pod; undefined if it accepts the pod. */
export async function refusal(client: ApiClient, pod: KubernetesObject & Pod): Promise<string | undefined> {
  return refusalOf(() => dryRun(client, pod));
}

/** Returns the message with which the API server refuses a request; undefined if it succeeds. */
export async function refusalOf(attempt: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code >= 400) return error.message;
    throw error;
  }
}

/**
 * Returns the webhooks that the API server called for a pod creation, in order, as
 * `configuration/webhook`. Source: the audit annotations
 * `mutation.webhook.admission.k8s.io/round_N_index_M`. Empty if no webhook matched.
 */
export function calledWebhooks(event: AuditEvent): string[] {
  const prefix = 'mutation.webhook.admission.k8s.io/round_';
  return Object.entries(event.annotations ?? {})
    .filter(([key]) => key.startsWith(prefix))
    .sort(([left], [right]) => left.localeCompare(right, 'en', { numeric: true }))
    .map(([, value]) => {
      const { configuration, webhook } = JSON.parse(value) as { configuration: string; webhook: string };
      return `${configuration}/${webhook}`;
    });
}

/** Returns the pod creations in a namespace. Events of pods with `generateName` have no name. */
export function podCreations(events: AuditEvent[], namespace: string): AuditEvent[] {
  return events.filter((event) => isPodCreation(event) && event.objectRef?.namespace === namespace);
}
