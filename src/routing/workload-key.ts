import { createHash } from 'node:crypto';
import { workloadBehind } from '../api/kubernetes/workload-behind.ts';

/** What is asked for a revision as one: all pods of a workload get the same. */
export interface RolloutWorkload {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** No workload ranks below this threshold. */
export const noWorkload = '0000000000000000';
/** The one threshold that includes the rank of its own value: every workload gets the canary. */
export const everyWorkload = 'ffffffffffffffff';

/**
 * The workload of a pod, from the pod alone: its controller, or what stands behind that by Istio's rules (a ReplicaSet's Deployment, a Job's
 * CronJob); of a pod without a controller its generateName, else its name. The same for a pod as a review holds it and as it is stored then.
 * @param pod as the API server sends it; a part of a wrong type counts as absent
 * @param namespace of the request or of the stored pod; a review's pod may lack its own
 */
export function workloadOfPod(pod: unknown, namespace: string): RolloutWorkload {
  const metadata = recordOf(recordOf(pod).metadata);
  const { ownerReferences } = metadata;
  const owners = (Array.isArray(ownerReferences) ? ownerReferences : []).map(recordOf);
  const controller = owners.find((owner) => owner.controller === true);
  if (controller === undefined)
    return { namespace, kind: 'Pod', name: textOf(metadata.generateName) || textOf(metadata.name) };
  const { apiVersion, kind, name } = controller;
  const maker = { apiVersion: textOf(apiVersion), kind: textOf(kind), name: textOf(name) };
  const workload = workloadBehind(maker, recordOf(metadata.labels));
  return { namespace, kind: workload.kind, name: workload.name };
}

/** `namespace/kind/name`: the same text for the same workload, since none of the three may hold a slash. */
export function workloadKey({ namespace, kind, name }: RolloutWorkload): string {
  return `${namespace}/${kind}/${name}`;
}

/**
 * Where a workload stands in the order in which a tag hands out the canary: the first 64 bits of SHA-256 of `tag/namespace/kind/name`, as 16
 * lower-case hex digits. Ranks compare as text. The tag is part of it, so that two tags do not try their canaries on the same workloads.
 */
export function rankOf(tag: string, workload: RolloutWorkload): string {
  return createHash('sha256')
    .update(`${tag}/${workloadKey(workload)}`)
    .digest('hex')
    .slice(0, 16);
}

/**
 * Whether a workload of this rank gets the canary: its rank is below the threshold, or the threshold is {@link everyWorkload}. So
 * {@link noWorkload} takes none, every larger threshold takes all that a smaller one took, and the largest takes all.
 */
export function getsCanary(rank: string, threshold: string): boolean {
  return rank < threshold || threshold === everyWorkload;
}

/** A part of an object as the API server sends it; one of a wrong type counts as absent. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
