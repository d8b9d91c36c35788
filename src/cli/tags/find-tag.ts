import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { revisionTags } from '../../operator/cluster-view.ts';
import { UsageError } from '../terminal.ts';

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
