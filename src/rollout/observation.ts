import type { RolloutRevision } from '../api/revision-tag/revision-tag.ts';
import type { ShadowReport } from './shadow-report.ts';

/** What is known of one pod that one of the two revisions has injected; pods that have ended well or are on their way out do not count. */
export interface ObservedPod {
  /** `namespace/name`. */
  readonly name: string;
  /** Its condition Ready. */
  readonly ready: boolean;
  /** Since when it is, or is not; its creation while it has no such condition. Milliseconds since 1970. */
  readonly since: number;
  /** When it was made. Milliseconds since 1970. */
  readonly createdAt: number;
  /** How often its containers have restarted, all of them together; counts only when it was made since the rollout began. */
  readonly restarts: number;
  /** It has failed, or one of its containers waits after a crash. */
  readonly crashing: boolean;
}

/** A workload that follows the tag. */
export interface ObservedWorkload {
  /** By `rankOf`. */
  readonly rank: string;
  /** How many pods it has now, whoever injected them. */
  readonly pods: number;
}

/** What is seen, and when. */
export interface Moment {
  readonly observed: RolloutObservation;
  readonly now: Date;
}

/** What a pass sees of the cluster; where something is not known, the rollout waits for it. */
export interface RolloutObservation {
  /** `spec.revision` of the tag. */
  readonly revision: string;
  /** `metadata.generation` of the tag. */
  readonly generation: number;
  /** Where the tag leads by the status outside of `status.rollout`; counts only while there is no state. */
  readonly before?: RolloutRevision;
  /** What `spec.revision` serves; absent while it cannot be led to, or is not known. */
  readonly wanted?: RolloutRevision;
  /** What the stable revision serves now; absent while that is not known. */
  readonly stable?: RolloutRevision;
  /** The canary is served no longer, for this reason. A canary of which nothing is known yet is not gone. */
  readonly gone?: string;
  readonly workloads: readonly ObservedWorkload[];
  /**
   * Until then workloads may be missing from `workloads`: whoever looks has only begun to, and does not see those that have no pods just now.
   * Milliseconds since 1970; absent: they are all there.
   */
  readonly incompleteUntil?: number;
  /** How many workloads there are by the status outside of `status.rollout`; counts only while there is no state. */
  readonly workloadsBefore?: number;
  readonly pods: { readonly stable: readonly ObservedPod[]; readonly canary: readonly ObservedPod[] };
  /** Injections of this canary that failed since the rollout began. */
  readonly injectionErrors: number;
  /** What the replicas have found for exactly this pair of configurations. */
  readonly shadow?: ShadowReport;
  /** The value of the action annotation. */
  readonly action?: string;
}
