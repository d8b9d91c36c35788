import type { Condition, KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { tagWebhookConfiguration } from '../../src/api/names.ts';
import type { RestartStatus } from '../../src/api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, isTrue } from './apply.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { untilActive } from './until-active.ts';
import { waitFor } from './wait-for.ts';
import { webhooks } from './webhook-configurations.ts';

export interface RevisionTagObject extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & { name: string };
  spec: { revision: string; [field: string]: unknown };
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    stableRevision?: string;
    [field: string]: unknown;
  };
}

export const revisionTags = resourceKind('sidecar-injector.io/v1alpha1', 'RevisionTag');

/** Builds a RevisionTag that points to a revision. */
export function revisionTag(name: string, revision: string, spec: Record<string, unknown> = {}): RevisionTagObject {
  return {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'RevisionTag',
    metadata: { name },
    spec: { revision, ...spec },
  };
}

/** Applies a RevisionTag. Waits until it is Ready and the API server uses its webhook. */
export async function applyTagUntilReady(client: ApiClient, tag: RevisionTagObject): Promise<RevisionTagObject> {
  // A replica's validating webhook may learn with a delay that another object is gone.
  const apply = () => applyObject(client, tag);
  const { metadata } = await waitFor(`RevisionTag ${tag.metadata.name} to be accepted`, apply, { timeout: 5000 });
  const ready = await waitFor(`RevisionTag ${tag.metadata.name} to be Ready`, async () => {
    const found = await client.get<RevisionTagObject>(revisionTags, tag.metadata.name);
    const { observedGeneration = 0, stableRevision } = found.status ?? {};
    const isSeen = observedGeneration >= (metadata.generation ?? 0) && stableRevision === tag.spec.revision;
    if (isTrue(found, 'Ready') && isSeen) return found;
    throw new Error(`its status is ${JSON.stringify(found.status ?? 'nothing')}`);
  });
  await untilActive(client);
  return ready;
}

/** Removes a tag, even if it is in use. Waits until the API server no longer calls its path. */
export async function removeTagAndWebhook(client: ApiClient, name: string): Promise<void> {
  await removeTag(client, name);
  await waitFor(`RevisionTag ${name} and its webhook to be deleted`, async () => {
    if ((await client.find(revisionTags, name)) !== undefined) return false;
    // An InjectorConfig may take over the default tag's webhook configuration.
    const found = await client.find(webhooks, tagWebhookConfiguration(name));
    return !JSON.stringify(found?.['webhooks'] ?? []).includes(`/tags/${name}/`);
  });
  await untilActive(client);
}

/** Deletes a RevisionTag, even if it is in use, with the force-delete annotation. */
export async function removeTag(client: ApiClient, name: string): Promise<void> {
  const annotations = { 'sidecar-injector.io/force-delete': 'true' };
  await client.patch(revisionTag(name, ''), 'merge', { metadata: { annotations } });
  await client.delete(revisionTag(name, ''));
}

/** Returns `status.restarts` of a tag. */
export async function restartsOf({ client }: ScenarioContext, tag: string): Promise<RestartStatus> {
  const { status } = await client.get<RevisionTagObject>(revisionTags, tag);
  const restarts = status?.['restarts'] as RestartStatus | undefined;
  if (restarts === undefined) throw new Error('the tag has no status.restarts');
  return restarts;
}

/** Formats a skipped workload as `Kind/name reason`. */
export function describeLeft({ kind, name, reason }: RestartStatus['untouched'][number]): string {
  return `${kind}/${name} ${reason}`;
}
