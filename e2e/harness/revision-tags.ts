import type { Condition, KubernetesObject } from '../../src/api/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject } from './apply.ts';
import { waitFor } from './wait-for.ts';

/** A RevisionTag as a user writes it and the operator reports on it. */
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

/** A RevisionTag that leads to a revision. */
export function revisionTag(name: string, revision: string, spec: Record<string, unknown> = {}): RevisionTagObject {
  return {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'RevisionTag',
    metadata: { name },
    spec: { revision, ...spec },
  };
}

/** Applies a RevisionTag and waits until the operator says that this very generation is Ready and leads to its revision. */
export async function applyTagUntilReady(client: ApiClient, tag: RevisionTagObject): Promise<RevisionTagObject> {
  const { metadata } = await applyObject(client, tag);
  return waitFor(
    `RevisionTag ${tag.metadata.name} to be Ready`,
    async () => {
      const found = await client.get<RevisionTagObject>(revisionTags, tag.metadata.name);
      const { observedGeneration = 0, conditions = [], stableRevision } = found.status ?? {};
      const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
      if (isReady && observedGeneration >= (metadata.generation ?? 0) && stableRevision === tag.spec.revision)
        return found;
      throw new Error(`it says ${JSON.stringify(found.status ?? 'nothing')}`);
    },
    { timeout: 20_000 },
  );
}

/** Removes a RevisionTag, also one in use. */
export async function removeTag(client: ApiClient, name: string): Promise<void> {
  const annotations = { 'sidecar-injector.io/force-delete': 'true' };
  await client.patch(revisionTag(name, ''), 'merge', { metadata: { annotations } });
  await client.delete(revisionTag(name, ''));
}
