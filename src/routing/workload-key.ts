import { createHash } from 'node:crypto';
import { workloadBehind } from '../api/kubernetes/workload-behind.ts';

/** A workload: all of its pods get the same configuration. */
export interface RolloutWorkload {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** No workload ranks below this threshold. */
export const noWorkload = '0000000000000000';
/** The only threshold that includes the rank equal to it: every workload gets the canary. */
export const everyWorkload = 'ffffffffffffffff';

/**
 * Returns the workload of a pod from the pod alone: the top-level owner by Istio's rules (a
 * ReplicaSet's Deployment, a Job's CronJob), else the pod's generateName, else its name. The result
 * is the same for the pod in a review and for the stored pod.
 * @param pod as the API server sends it; fields of a wrong type count as absent
 * @param namespace of the request or of the stored pod; a pod in a review may have none
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

/** Returns `namespace/kind/name`, which is unique because none of the three can contain a slash. */
export function workloadKey({ namespace, kind, name }: RolloutWorkload): string {
  return `${namespace}/${kind}/${name}`;
}

/**
 * Returns the rank of a workload, by which a tag hands out the canary: the first 64 bits of SHA-256
 * of `tag/namespace/kind/name`, as 16 lower-case hex digits, compared as text. The tag is included
 * so that two tags do not try their canaries on the same workloads.
 */
export function rankOf(tag: string, workload: RolloutWorkload): string {
  return createHash('sha256')
    .update(`${tag}/${workloadKey(workload)}`)
    .digest('hex')
    .slice(0, 16);
}

/**
 * Reports whether a workload of this rank gets the canary. {@link noWorkload} includes none, a
 * larger threshold includes all workloads of a smaller one, and {@link everyWorkload} includes all.
 */
export function getsCanary(rank: string, threshold: string): boolean {
  return rank < threshold || threshold === everyWorkload;
}

/** Returns a part of an untyped object as a record; a part of a wrong type counts as absent. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
