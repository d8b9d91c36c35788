import { forceDeleteAnnotation, isDeletionForced } from '../../api/names.ts';
import { apiVersion } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { type RevisionTag, revisionTagKind } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isConflict } from '../../kube/api-error.ts';
import { commandLineManager } from '../cluster-options.ts';
import { inUseRefusal } from '../operator/in-use.ts';
import { briefTagManifest } from './tag-manifest.ts';
import { revisionTags } from '../../operator/cluster-view.ts';

const options = { fieldManager: commandLineManager };
/** How often a write is tried again that met one of the operator's status. */
const attempts = 5;

/**
 * Creates a tag, or moves it unless somebody has changed it since it was read: one request, which is done or is not.
 * @throws Error saying that it was changed meanwhile
 */
export async function writeTag(
  client: Pick<ApiClient, 'create' | 'patch' | 'find'>,
  tag: RevisionTag,
  before: RevisionTag | undefined,
): Promise<KubernetesObject> {
  if (before === undefined) {
    try {
      return await client.create(briefTagManifest(tag) as KubernetesObject, options);
    } catch (error) {
      throw isConflict(error) ? changedMeanwhile(tag.metadata.name, error) : error;
    }
  }
  const { revision, enableNamespacesByDefault } = tag.spec;
  const isFlagChanged = enableNamespacesByDefault !== before.spec.enableNamespacesByDefault;
  const spec = { revision, ...(isFlagChanged ? { enableNamespacesByDefault } : {}) };
  return asRead(client, before, (resourceVersion) =>
    client.patch(target(before.metadata.name), 'merge', { metadata: { resourceVersion }, spec }, options),
  );
}

/**
 * Sets annotations of a tag unless somebody has changed its spec since it was read.
 * @throws Error saying that it was changed meanwhile
 */
export async function annotateTag(
  client: Pick<ApiClient, 'patch' | 'find'>,
  tag: RevisionTag,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  await asRead(client, tag, (resourceVersion) =>
    client.patch(target(tag.metadata.name), 'merge', { metadata: { annotations, resourceVersion } }, options),
  );
}

/**
 * Deletes a tag unless somebody has changed it since it was read.
 * @param isUsed whether it is in use, and somebody has agreed all the same, which the validating webhook must be told. It must be told too when the
 *   status, which it goes by and which is half a minute old, says so still.
 */
export async function deleteTag(
  client: Pick<ApiClient, 'patch' | 'delete' | 'find'>,
  tag: RevisionTag,
  isUsed: boolean,
): Promise<void> {
  const { name, uid, annotations } = tag.metadata;
  const annotate = (value: string | null, resourceVersion?: string): Promise<KubernetesObject> => {
    const metadata = { annotations: { [forceDeleteAnnotation]: value }, resourceVersion };
    return client.patch(target(name), 'merge', { metadata }, options);
  };
  const said = annotations?.[forceDeleteAnnotation];
  const mustSay = !isDeletionForced(tag) && (isUsed || inUseRefusal(tag, []) !== undefined);
  if (mustSay) await asRead(client, tag, (resourceVersion) => annotate('true', resourceVersion));
  try {
    await asRead(client, tag, (resourceVersion) => client.delete(target(name), { uid, resourceVersion }));
  } catch (error) {
    // Whoever deletes it later has to agree again.
    if (mustSay) await annotate(said ?? null);
    throw error;
  }
}

/** Writes what is still as it was read: the operator's own writes, which change no generation, do not count. */
async function asRead<Result>(
  client: Pick<ApiClient, 'find'>,
  { metadata: { name, uid, generation } }: RevisionTag,
  write: (resourceVersion: string | undefined) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const now = await client.find(revisionTags, name);
    if (now?.metadata.uid !== uid || now?.metadata.generation !== generation) throw changedMeanwhile(name);
    try {
      return await write(now?.metadata.resourceVersion);
    } catch (error) {
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}

function target(name: string): { apiVersion: string; kind: string; metadata: { name: string } } {
  return { apiVersion, kind: revisionTagKind, metadata: { name } };
}

function changedMeanwhile(name: string, cause?: unknown): Error {
  return new Error(`RevisionTag ${name}: somebody else has changed it meanwhile; nothing was changed, look again`, {
    cause,
  });
}
