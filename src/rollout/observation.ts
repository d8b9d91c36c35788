import type { RolloutRevision } from '../api/revision-tag/revision-tag.ts';
import type { ShadowReport } from './shadow-report.ts';

/** A pod that either revision injected. Pods that succeeded or are being deleted do not count. */
export interface ObservedPod {
  /** `namespace/name`. */
  readonly name: string;
  /** The status of its condition Ready. */
  readonly ready: boolean;
  /** The last change of that condition, else its creation, in milliseconds since 1970. */
  readonly since: number;
  /** Its creation, in milliseconds since 1970. */
  readonly createdAt: number;
  /** The restarts of all its containers together. */
  readonly restarts: number;
  /** Whether it has failed, or one of its containers waits after a crash. */
  readonly crashing: boolean;
}

/** A workload that follows the tag. */
export interface ObservedWorkload {
  /** By `rankOf`. */
  readonly rank: string;
  /** How many pods it has now, whichever revision injected them. */
  readonly pods: number;
}

/** An observation and its time. */
export interface Moment {
  readonly observed: RolloutObservation;
  readonly now: Date;
}

/** The observed state of the cluster. A rollout waits while a field is absent. */
export interface RolloutObservation {
  /** `spec.revision` of the tag. */
  readonly revision: string;
  /** `metadata.generation` of the tag. */
  readonly generation: number;
  /** The target of the tag in the rest of the status; used only without a state. */
  readonly before?: RolloutRevision;
  /** The configuration that `spec.revision` serves; absent while it is not ready or not known. */
  readonly wanted?: RolloutRevision;
  /** The configuration that the stable revision serves; absent while it is not known. */
  readonly stable?: RolloutRevision;
  /** Why the canary is no longer served; absent also while nothing is known about it yet. */
  readonly gone?: string;
  readonly workloads: readonly ObservedWorkload[];
  /**
   * The time until which `workloads` may be incomplete, because a new leader does not see workloads
   * that have no pods at the moment. Milliseconds since 1970; absent when all are known.
   */
  readonly incompleteUntil?: number;
  /** The number of workloads in the rest of the status; used only without a state. */
  readonly workloadsBefore?: number;
  readonly pods: { readonly stable: readonly ObservedPod[]; readonly canary: readonly ObservedPod[] };
  /** Failed injections of this canary since the rollout began. */
  readonly injectionErrors: number;
  /** The comparisons of the replicas for exactly this pair of configurations. */
  readonly shadow?: ShadowReport;
  /** The value of the action annotation. */
  readonly action?: string;
}
