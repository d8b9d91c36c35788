import { createHash } from 'node:crypto';
import { workloadBehind } from '../api/workload-behind.ts';

/** What is asked for a revision as one: all pods of a workload get the same. */
export interface RolloutWorkload {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** The parts of a pod's metadata that tell its workload, as they stand in an admission review and in the stored pod alike. */
export interface WorkloadFacts {
  readonly name?: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, unknown>>;
  readonly ownerReferences?: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly controller?: boolean;
  }[];
}

/** No workload ranks below this threshold. */
export const noWorkload = '0000000000000000';
/** The one threshold that includes the rank of its own value: every workload gets the canary. */
export const everyWorkload = 'ffffffffffffffff';

/**
 * The workload of a pod, from the pod alone: its controller, or what stands behind that by Istio's rules (a ReplicaSet's Deployment, a Job's
 * CronJob); of a pod without a controller its generateName, else its name.
 * @param namespace of the request or of the stored pod; a review's pod may lack its own
 */
export function workloadOfPod(
  { name = '', generateName = '', labels = {}, ownerReferences = [] }: WorkloadFacts,
  namespace: string,
): RolloutWorkload {
  const controller = ownerReferences.find((reference) => reference.controller === true);
  if (controller === undefined) return { namespace, kind: 'Pod', name: generateName === '' ? name : generateName };
  const workload = workloadBehind(controller, labels);
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
