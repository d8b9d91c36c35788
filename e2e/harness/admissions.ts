import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { AuditEvent } from './audit-log.ts';
import { isPodCreation } from './lost-admissions.ts';
import type { Pod } from './pod.ts';
import { barePod, type WorkloadOptions } from './workloads.ts';

/** What `kubectl create --dry-run=server` would answer: the pod as it would be stored. */
export async function dryRun(client: ApiClient, pod: KubernetesObject & Pod): Promise<Pod> {
  return client.create(pod, { dryRun: true });
}

/** The names of the containers that a pod would have that is created now, sorted. */
export async function containersOf(client: ApiClient, namespace: string, pod: WorkloadOptions = {}): Promise<string[]> {
  return (await dryRun(client, barePod(namespace, 'pod', pod))).spec.containers.map(({ name }) => name).sort();
}

/** The message with which the API server refuses a pod, undefined when it does not. */
export async function refusal(client: ApiClient, pod: KubernetesObject & Pod): Promise<string | undefined> {
  return refusalOf(() => dryRun(client, pod));
}

/** The message with which the API server refuses a request; undefined when it does not. */
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
 * The webhooks that the API server called for a pod creation, in order, as `configuration/webhook`, from the audit annotations
 * `mutation.webhook.admission.k8s.io/round_N_index_M`. A creation that no webhook matched has none.
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

/** The creations of pods of one namespace; a pod made by a controller has no name yet when it is recorded. */
export function podCreations(events: AuditEvent[], namespace: string): AuditEvent[] {
  return events.filter((event) => isPodCreation(event) && event.objectRef?.namespace === namespace);
}
