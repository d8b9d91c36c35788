import type { RestartStatus } from '../../src/api/revision-tag/rollout-status.ts';
import { revisionTags, type RevisionTagObject } from './revision-tags.ts';
import type { ScenarioContext } from './scenario-context.ts';

/** `status.restarts` of a tag. */
export async function restartsOf({ client }: ScenarioContext, tag: string): Promise<RestartStatus> {
  const { status } = await client.get<RevisionTagObject>(revisionTags, tag);
  const restarts = status?.['restarts'] as RestartStatus | undefined;
  if (restarts === undefined) throw new Error('the tag has no status.restarts');
  return restarts;
}

/** `Kind/name reason`. */
export function describeLeft({ kind, name, reason }: RestartStatus['untouched'][number]): string {
  return `${kind}/${name} ${reason}`;
}
