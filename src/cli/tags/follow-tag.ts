import { setTimeout as sleep } from 'node:timers/promises';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { readinessOf } from '../usage/readiness.ts';
import { revisionTags } from '../../operator/cluster-view.ts';

/** Milliseconds between two looks. */
const interval = 200;

/**
 * Waits until new pods get what a tag asks for, or until the rollout to it is under way.
 * @param generation of the tag as it was written
 * @param isRollout whether the tag gets there in steps
 * @param seconds how long at most
 * @returns why they do not yet; undefined when they do
 */
export async function untilInForce(
  client: Pick<ApiClient, 'find'>,
  name: string,
  generation: number,
  isRollout: boolean,
  seconds: number,
): Promise<string | undefined> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const tag = await client.find<RevisionTag>(revisionTags, name);
    if (tag === undefined) return 'somebody has deleted it';
    if (isRollout && hasBegun(tag, generation)) return undefined;
    const why = whyNotInForce(tag, generation);
    if (why === undefined || performance.now() >= end) return why;
    await sleep(interval);
  }
}

function hasBegun(tag: RevisionTag, generation: number): boolean {
  const isSeen = (tag.status?.observedGeneration ?? 0) >= generation;
  return isSeen && rolloutUnderWay(tag)?.canary.revision === tag.spec.revision;
}

function whyNotInForce({ metadata, spec, status }: RevisionTag, generation: number): string | undefined {
  const { ready, reason, message } = readinessOf({
    metadata: { generation: Math.max(generation, metadata.generation ?? 0) },
    ...(status === undefined ? {} : { status }),
  });
  if (ready && status?.stableRevision === spec.revision) return undefined;
  return `${reason}: ${message}`;
}
