import type { RolloutRevision } from '../api/revision-tag/revision-tag.ts';
import type { RolloutWorkload } from '../routing/workload-key.ts';
import type { ShadowReport } from './shadow-report.ts';

/** A pod with a sidecar of either revision, unless the pod succeeded or is being deleted. */
export interface ObservedPod {
  /** `namespace/name`. */
  readonly name: string;
  /** The rank of its workload. */
  readonly rank: string;
  /** The status of its condition Ready. */
  readonly ready: boolean;
  /** When condition Ready last changed, or else `createdAt`, in milliseconds since 1970. */
  readonly since: number;
  /** The creation time of the pod, in milliseconds since 1970. */
  readonly createdAt: number;
  /** The sum of the restarts of all containers. */
  readonly restarts: number;
  /** Whether the pod has failed, or one of its containers waits after a crash. */
  readonly crashing: boolean;
  /** The container that is not healthy and why, as `container hello: CrashLoopBackOff`; bounded. */
  readonly trouble?: string | undefined;
}

/** A workload that follows the tag. */
export interface ObservedWorkload {
  /** The rank that `rankOf` returns. */
  readonly rank: string;
  readonly namespace: string;
  /** The number of pods that the workload has now, of any revision. */
  readonly pods: number;
}

/** The pods that the API server refuses to create for a workload, as its controller reports. */
export interface Refusal extends RolloutWorkload {
  /** The object whose controller creates the pods, such as `ReplicaSet web-5d9c7bbbf4`. */
  readonly object: string;
  /** Why, without the name of the pod; bounded, and without unprintable characters. */
  readonly message: string;
  /** When the refusals began, and the latest refusal, in milliseconds since 1970. */
  readonly since: number;
  readonly at: number;
  /** The configuration that the pods would get, as `N.<hash8>`. */
  readonly target: string;
  /**
   * `Proven`: the pod is invalid with `target`, and valid with the stable revision or, outside a
   * rollout, without a sidecar. `Own`: it is invalid in both cases. Undefined if this is unknown.
   */
  readonly verdict?: 'Proven' | 'Own' | undefined;
}

/** A refusal, and what the pods of its workload say about it. */
export interface ObservedRefusal extends Refusal {
  readonly rank: string;
  /** The creation time of the workload's newest pod, in ms since 1970; -Infinity if it has none. */
  readonly newestPod: number;
  /** Whether the workload has a pod with `target`: so the target is not the cause. */
  readonly isAccepted: boolean;
}

/** An observation and its time. */
export interface Moment {
  readonly observed: RolloutObservation;
  readonly now: Date;
}

/** The observed state of the cluster. */
export interface RolloutObservation {
  /** `spec.revision` of the tag. */
  readonly revision: string;
  /** `metadata.generation` of the tag. */
  readonly generation: number;
  /** The target of the tag in the rest of the status; used only while there is no state. */
  readonly before?: RolloutRevision;
  /** The configuration of `spec.revision`; absent while it is not ready or not known. */
  readonly desired?: RolloutRevision;
  /** The configuration of the stable revision; absent while it is not known. */
  readonly stable?: RolloutRevision;
  /** The reason why the canary is no longer served; absent if the canary is or may be served. */
  readonly gone?: string;
  readonly workloads: readonly ObservedWorkload[];
  /**
   * The time until which `workloads` may be incomplete, because a new leader does not see workloads
   * whose pods are being replaced. Milliseconds since 1970; absent if all workloads are known.
   */
  readonly incompleteUntil?: number;
  /** The number of workloads in the rest of the status; used only while there is no state. */
  readonly workloadsBefore?: number;
  readonly pods: { readonly stable: readonly ObservedPod[]; readonly canary: readonly ObservedPod[] };
  /** The workloads whose pods are refused; absent if Events are not watched. */
  readonly refusals?: readonly ObservedRefusal[];
  /** The number of failed injections of the canary since the rollout began. */
  readonly injectionErrors: number;
  /** The replicas' comparisons of the current stable configuration with the current canary. */
  readonly shadow?: ShadowReport;
  /** The value of the action annotation. */
  readonly action?: string;
}
