import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { forceDeleteAnnotation, isDeletionForced } from '../../api/names.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import {
  formatRolloutAction,
  type RolloutAction,
  rolloutActionAnnotation,
} from '../../api/revision-tag/rollout-action.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isConflict } from '../../kube/api-error.ts';
import { revisionTags } from '../../operator/cluster-view.ts';
import { commandLineManager } from '../cluster-options.ts';
import { inUseRefusal } from '../operator/in-use.ts';
import { UsageError } from '../terminal.ts';
import { briefTagManifest } from './plan-tag.ts';

const options = { fieldManager: commandLineManager };
/** The maximum number of attempts to write, if status updates of the operator conflict. */
const attempts = 5;

/** Reads a tag. Returns undefined if the tag does not exist. */
export async function readTag(client: Pick<ApiClient, 'find'>, name: string): Promise<RevisionTag | undefined> {
  const found = await client.find(revisionTags, name);
  return found && parseRevisionTag(found);
}

/** Reads a tag. @throws UsageError listing the existing tags */
export async function findTag(client: Pick<ApiClient, 'find' | 'listAll'>, name: string): Promise<RevisionTag> {
  const tag = await readTag(client, name);
  if (tag !== undefined) return tag;
  const { items } = await client.listAll(revisionTags);
  throw noSuchTag(name, items);
}

/** Returns the error for an unknown tag. */
export function noSuchTag(name: string, tags: readonly { readonly metadata: { name?: string } }[]): Error {
  const known = tags.map(({ metadata }) => metadata.name ?? '');
  return new UsageError(`there is no tag ${name}; ${namesThere(name, known)}; \`injector tag set\` creates a tag`);
}

/** Creates or moves a tag by one request. @throws Error when another client has changed it */
export async function writeTag(client: ApiClient, tag: RevisionTag, before?: RevisionTag): Promise<KubernetesObject> {
  if (before === undefined) {
    try {
      return await client.create(briefTagManifest(tag) as KubernetesObject, options);
    } catch (error) {
      throw isConflict(error) ? concurrentChange(tag.metadata.name, error) : error;
    }
  }
  const { revision, enableNamespacesByDefault } = tag.spec;
  const isFlagChanged = enableNamespacesByDefault !== before.spec.enableNamespacesByDefault;
  const spec = { revision, ...(isFlagChanged ? { enableNamespacesByDefault } : {}) };
  return writeIfUnchanged(client, before, (resourceVersion) =>
    client.patch(before, 'merge', { metadata: { resourceVersion }, spec }, options),
  );
}

/** Requests an action of a rollout. @throws Error when another client has changed the tag's spec */
export async function requestAction(client: ApiClient, tag: RevisionTag, action: RolloutAction): Promise<void> {
  const annotations = { [rolloutActionAnnotation]: formatRolloutAction(action) };
  await writeIfUnchanged(client, tag, (resourceVersion) =>
    client.patch(tag, 'merge', { metadata: { annotations, resourceVersion } }, options),
  );
}

/**
 * Deletes a tag, unless another client has changed it since it was read.
 * @param isUsed whether the user confirmed the deletion of a used tag. If so, or if the status (up
 *   to 30 s old) reports usage, adds the annotation that the validating webhook requires.
 */
export async function deleteTag(client: ApiClient, tag: RevisionTag, isUsed: boolean): Promise<void> {
  const { uid, annotations } = tag.metadata;
  const annotate = (value: string | null, resourceVersion?: string): Promise<KubernetesObject> => {
    const metadata = { annotations: { [forceDeleteAnnotation]: value }, resourceVersion };
    return client.patch(tag, 'merge', { metadata }, options);
  };
  const previous = annotations?.[forceDeleteAnnotation];
  const needsAnnotation = !isDeletionForced(tag) && (isUsed || inUseRefusal(tag, []) !== undefined);
  if (needsAnnotation) await writeIfUnchanged(client, tag, (resourceVersion) => annotate('true', resourceVersion));
  try {
    await writeIfUnchanged(client, tag, (resourceVersion) => client.delete(tag, { uid, resourceVersion }));
  } catch (error) {
    // A later deletion must be confirmed again.
    if (needsAnnotation) await annotate(previous ?? null);
    throw error;
  }
}

/** Writes a tag if its spec has not changed since it was read. Retries status conflicts. */
async function writeIfUnchanged<Result>(
  client: Pick<ApiClient, 'find'>,
  { metadata: { name, uid, generation } }: RevisionTag,
  write: (resourceVersion: string | undefined) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const now = await client.find(revisionTags, name);
    if (now?.metadata.uid !== uid || now?.metadata.generation !== generation) throw concurrentChange(name);
    try {
      return await write(now?.metadata.resourceVersion);
    } catch (error) {
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}

function concurrentChange(name: string, cause?: unknown): Error {
  const message = `RevisionTag ${name}: another client has just changed the tag, so nothing was written: check the tag and try again`;
  return new Error(message, { cause });
}
