import { createHash } from 'node:crypto';
import { shownOwner, workloadBehind } from '../api/kubernetes/workload-behind.ts';

/** A workload, whose pods all get the same configuration. */
export interface RolloutWorkload {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** `kind/name` as the pod has it, if an object cannot have this kind or name: only for keys. */
  readonly claimed?: string;
}

/** The threshold that includes no workload. */
export const noWorkload = '0000000000000000';
/** The threshold that includes every workload, even a workload with this rank. */
export const everyWorkload = 'ffffffffffffffff';

/**
 * Returns the workload of a pod: the top-level owner according to Istio's rules (a ReplicaSet's
 * Deployment, a Job's CronJob), or else the pod itself, named by its generateName or name. The
 * result is the same for the pod in a review and for the stored pod. `kind` and `name` can be
 * stored and printed, whatever the pod contains ({@link shownOwner}).
 * @param pod the pod that the API server sent; fields of a wrong type count as absent
 * @param namespace the namespace of the request or the stored pod; a pod in a review may have none
 */
export function workloadOfPod(pod: unknown, namespace: string): RolloutWorkload {
  const metadata = recordOf(recordOf(pod).metadata);
  const { ownerReferences } = metadata;
  const owners = (Array.isArray(ownerReferences) ? ownerReferences : []).map(recordOf);
  const controller = owners.find((owner) => owner.controller === true);
  if (controller === undefined)
    return workloadNamed(namespace, 'Pod', textOf(metadata.generateName) || textOf(metadata.name));
  const { apiVersion, kind, name } = controller;
  const maker = { apiVersion: textOf(apiVersion), kind: textOf(kind), name: textOf(name) };
  const workload = workloadBehind(maker, recordOf(metadata.labels));
  return workloadNamed(namespace, workload.kind, workload.name);
}

function workloadNamed(namespace: string, kind: string, name: string): RolloutWorkload {
  const shown = shownOwner(kind, name);
  const isShown = shown.kind === kind && shown.name === name;
  return { namespace, ...shown, ...(!isShown && { claimed: `${kind}/${name}` }) };
}

/**
 * Returns `namespace/kind/name`, with kind and name as the pod has them, so that all versions rank
 * its workload alike. The keys of existing objects differ, because no part contains a slash. The
 * owner that a pod claims may contain slashes, and share its key, but only in its own namespace.
 */
export function workloadKey({ namespace, kind, name, claimed = `${kind}/${name}` }: RolloutWorkload): string {
  return `${namespace}/${claimed}`;
}

/**
 * Returns the rank of a workload, which decides when the workload gets the canary of a tag: the
 * first 64 bits of SHA-256 of `tag/namespace/kind/name`, as 16 lower-case hex digits. The tag is
 * included so that two tags do not try their canaries on the same workloads.
 */
export function rankOf(tag: string, workload: RolloutWorkload): string {
  return createHash('sha256')
    .update(`${tag}/${workloadKey(workload)}`)
    .digest('hex')
    .slice(0, 16);
}

/**
 * Reports whether a workload with this rank gets the canary. A larger threshold includes all
 * workloads of a smaller threshold. See {@link noWorkload} and {@link everyWorkload}.
 */
export function getsCanary(rank: string, threshold: string): boolean {
  return rank < threshold || threshold === everyWorkload;
}

/** Returns a part of an untyped object as a record; empty if the part has another type. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
