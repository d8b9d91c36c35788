import { setTimeout as sleep } from 'node:timers/promises';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { readinessOf } from '../usage/readiness.ts';
import { revisionTags } from '../../operator/cluster-view.ts';

/** Milliseconds between two looks. */
const interval = 200;

/**
 * Waits until new pods get what a tag asks for.
 * @param generation of the tag as it was written
 * @param seconds how long at most
 * @returns why they do not yet; undefined when they do
 */
export function untilInForce(
  client: Pick<ApiClient, 'find'>,
  name: string,
  generation: number,
  seconds: number,
): Promise<string | undefined> {
  return until(client, name, seconds, (tag) => whyNotInForce(tag, generation));
}

/** The same until the rollout to what a tag asks for is under way, or done. */
export function untilBegun(
  client: Pick<ApiClient, 'find'>,
  name: string,
  generation: number,
  seconds: number,
): Promise<string | undefined> {
  return until(client, name, seconds, (tag) => {
    const why = whyNotInForce(tag, generation);
    const isSeen = (tag.status?.observedGeneration ?? 0) >= generation;
    return isSeen && rolloutUnderWay(tag)?.canary.revision === tag.spec.revision ? undefined : why;
  });
}

async function until(
  client: Pick<ApiClient, 'find'>,
  name: string,
  seconds: number,
  whyNot: (tag: RevisionTag) => string | undefined,
): Promise<string | undefined> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const tag = await client.find<RevisionTag>(revisionTags, name);
    if (tag === undefined) return 'somebody has deleted it';
    const why = whyNot(tag);
    if (why === undefined || performance.now() >= end) return why;
    await sleep(interval);
  }
}

function whyNotInForce({ metadata, spec, status }: RevisionTag, generation: number): string | undefined {
  const { ready, reason, message } = readinessOf({
    metadata: { generation: Math.max(generation, metadata.generation ?? 0) },
    ...(status === undefined ? {} : { status }),
  });
  if (ready && status?.stableRevision === spec.revision) return undefined;
  return `${reason}: ${message}`;
}
