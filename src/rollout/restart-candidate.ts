import { durationMilliseconds } from '../api/duration.ts';
import type { RestartStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutWorkload } from '../routing/workload-key.ts';

/** The observed progress of the latest restart of a workload. */
export interface RestartProgress {
  /** When all pods became available and up to date, in milliseconds since 1970. */
  readonly completeSince?: number | undefined;
  /** How long it was complete since that restart before it no longer was, in milliseconds. */
  readonly completedFor?: number | undefined;
  /** When it last had more new or available pods than before. Milliseconds since 1970. */
  readonly progressedAt?: number | undefined;
}

/** A PodDisruptionBudget that covers the pods of a workload. */
export interface CoveringBudget {
  readonly name: string;
  readonly disruptionsAllowed: number;
}

/** The restart that our annotation on a workload's pod template records for the tag. */
export interface OwnRestart {
  /** The configuration that its pods were to get, as `N.<hash8>`. */
  readonly target: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Whether another client removed or changed the annotation. */
  readonly isLost?: boolean;
  /** Whether the target changed in between, which allows another restart for it. */
  readonly isOvertaken?: boolean;
}

/** A workload with its key. */
export interface KeyedWorkload extends RolloutWorkload {
  /** Its `workloadKey`. */
  readonly key: string;
}

/** Why a workload is not restarted now, for a reason outside its pods. */
export interface RestartHold {
  readonly reason: string;
  readonly message: string;
  /** Whether a write of the workload has failed. */
  readonly isFailure?: boolean;
}

/** A workload with pods that follow the tag, or one that was restarted for the tag. */
export interface RestartCandidate extends KeyedWorkload, RestartProgress {
  /** How many of its pods are stale. */
  readonly stale: number;
  /** The configuration that its new pods would get, as `N.<hash8>`. */
  readonly target: string;
  readonly restarted?: OwnRestart | undefined;
  /** How many of the pods created by that restart crash. */
  readonly crashing?: number | undefined;
  /** How many of those pods have no sidecar. */
  readonly uninjected?: number | undefined;
  /** How its controller replaces pods (`spec.strategy` or `spec.updateStrategy`). */
  readonly updateType?: string | undefined;
  /** The StatefulSet field `spec.updateStrategy.rollingUpdate.partition`: lower ordinals stay. */
  readonly partition?: number;
  /** `spec.paused`. */
  readonly paused: boolean;
  /** Whether a user excluded it by annotation. */
  readonly isExcluded?: boolean;
  /** Whether its pod template contains the sidecar, so that restarts change nothing. */
  readonly isInjectedByHand?: boolean;
  /** Whether pods of it have a canary that was rolled back. */
  readonly rolledBack?: boolean;
  readonly hold?: RestartHold | undefined;
  /** Why the operator never restarts it, for a reason outside the workload. */
  readonly leftOut?: RestartHold | undefined;
  /** Whether it comes last, because many writes fail in its namespace. */
  readonly isDeferred?: boolean;
  readonly budgets: readonly CoveringBudget[];
}

/** A workload whose latest restart was for another tag. */
export interface OtherRestart extends KeyedWorkload, RestartProgress {
  readonly tag: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly budgets: readonly CoveringBudget[];
}

/** A workload whose restart was sent to the API server without an answer. */
export interface UncertainRestart extends KeyedWorkload {
  readonly budgets: readonly CoveringBudget[];
}

/** The input for the restarts of one tag. */
export interface RestartSituation {
  readonly own: readonly RestartCandidate[];
  readonly others: readonly OtherRestart[];
  readonly uncertain?: readonly UncertainRestart[];
}

/** How long a restart may be the cause of an incomplete workload, in milliseconds. */
const history = 24 * 3_600_000;

/** Reports whether it was restarted for the current target. */
export function isCurrent({ restarted, target }: RestartCandidate): boolean {
  return restarted?.target === target && restarted.isOvertaken !== true;
}

/** Returns when it was restarted for the tag, in milliseconds since 1970; -Infinity if never. */
export function restartedAt({ restarted }: RestartCandidate): number {
  return restarted?.at ?? -Infinity;
}

/** Reports whether a restart may be the cause of the observed state. */
export function isRecent(at: number, now: number): boolean {
  return Math.abs(now - at) < history;
}

/** Returns when a restart stops counting if nothing changes. */
export function forgottenAt(at: number): number {
  return at + history;
}

/** Returns when a restart ends if nothing changes: after it was complete for `minReadySeconds`. */
export function doneAt(
  at: number,
  { completeSince, completedFor }: RestartProgress,
  { minReadySeconds }: RestartStrategy,
  now: number,
): number {
  const needed = minReadySeconds * 1000;
  if (completedFor !== undefined && completedFor >= needed) return at;
  if (completeSince === undefined) return Infinity;
  // A time in the future comes from a clock that is ahead, or from another client.
  return (at > now ? completeSince : Math.max(completeSince, at)) + needed;
}

/** Returns when a restart is late without progress. Large workloads may take hours in total. */
export function lateAt(
  at: number,
  { progressedAt = at }: Pick<RestartProgress, 'progressedAt'>,
  { readyTimeout }: Pick<RestartStrategy, 'readyTimeout'>,
): number {
  return Math.max(at, progressedAt) + durationMilliseconds(readyTimeout);
}
