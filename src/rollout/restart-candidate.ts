import { durationMilliseconds } from '../api/duration.ts';
import type { RestartStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutWorkload } from '../routing/workload-key.ts';

/** How far the latest restart of a workload has come, as far as this process has seen. */
export interface RestartProgress {
  /** Since when its controller has done all there is to do, with every pod of its present template available; undefined while it has not. Milliseconds since 1970. */
  readonly completeSince?: number | undefined;
  /** The longest time for which it was so once since that restart, before it was not again. Milliseconds. */
  readonly completedFor?: number | undefined;
  /** When more of its pods were new or available than ever since that restart. Milliseconds since 1970. */
  readonly progressedAt?: number | undefined;
}

/** A PodDisruptionBudget that covers the pods of a workload. */
export interface CoveringBudget {
  readonly name: string;
  readonly disruptionsAllowed: number;
}

/** What our annotation on the pod template of a workload says of the tag, or said. */
export interface OwnRestart {
  /** `N.<hash8>`: what its pods were to get. */
  readonly target: string;
  /** When. Milliseconds since 1970. */
  readonly at: number;
  /** The annotation does not say so any more. */
  readonly isLost?: boolean;
  /** Its pods would have got something else in between: it may be restarted once more for the same target. */
  readonly isOvertaken?: boolean;
}

/** A workload, and the key by which it is found among others. */
export interface KeyedWorkload extends RolloutWorkload {
  /** Its `workloadKey`. */
  readonly key: string;
}

/** Why a workload is not restarted now, where something else than its pods says so. */
export interface RestartHold {
  readonly reason: string;
  readonly message: string;
  /** A write of it has failed. */
  readonly isFailure?: boolean;
}

/** A workload with pods that follow the tag, or one that was restarted for it. */
export interface RestartCandidate extends KeyedWorkload, RestartProgress {
  /** How many of its pods are stale. */
  readonly stale: number;
  /** `N.<hash8>`: what its pods would get now. */
  readonly target: string;
  readonly restarted?: OwnRestart | undefined;
  /** How many of the pods that were made by that restart crash. */
  readonly crashing?: number | undefined;
  /** How many of them have no sidecar at all. */
  readonly uninjected?: number | undefined;
  /** How its controller replaces pods (`spec.strategy` or `spec.updateStrategy`). */
  readonly updateType?: string | undefined;
  /** Pods below this ordinal are not replaced (a StatefulSet's `spec.updateStrategy.rollingUpdate.partition`). */
  readonly partition?: number;
  /** `spec.paused`. */
  readonly paused: boolean;
  /** Somebody wants it left alone. */
  readonly isExcluded?: boolean;
  /** Its pod template has been injected already: what its pods get never changes. */
  readonly isInjectedByHand?: boolean;
  /** Pods of it have a canary that was rolled back. */
  readonly rolledBack?: boolean;
  readonly hold?: RestartHold | undefined;
  /** Why it is for somebody else to make its pods anew, where something else than the workload says so. */
  readonly leftOut?: RestartHold | undefined;
  /** Others come first: writes fail where it is. */
  readonly isDeferred?: boolean;
  readonly budgets: readonly CoveringBudget[];
}

/** A workload whose latest restart was for another tag. */
export interface OtherRestart extends KeyedWorkload, RestartProgress {
  readonly tag: string;
  /** When. Milliseconds since 1970. */
  readonly at: number;
  readonly budgets: readonly CoveringBudget[];
}

/** A workload of which nobody knows whether the API server has restarted it: the answer is missing. */
export interface UncertainRestart extends KeyedWorkload {
  readonly budgets: readonly CoveringBudget[];
}

/** All that the restarts of one tag depend on. */
export interface RestartSituation {
  readonly own: readonly RestartCandidate[];
  readonly others: readonly OtherRestart[];
  /** For whatever tag. */
  readonly uncertain?: readonly UncertainRestart[];
}

/** What was restarted longer ago, and is not complete now, has other troubles than the restart. Milliseconds. */
const history = 24 * 3_600_000;

/** Restarted for what its pods would get now. */
export function isCurrent({ restarted, target }: RestartCandidate): boolean {
  return restarted?.target === target && restarted.isOvertaken !== true;
}

/** When it was restarted for the tag. Milliseconds since 1970; before all times when it was not. */
export function restartedAt({ restarted }: RestartCandidate): number {
  return restarted?.at ?? -Infinity;
}

/** Whether a restart may be the cause of what is seen now. */
export function isRecent(at: number, now: number): boolean {
  return Math.abs(now - at) < history;
}

/** When a restart stops to count if nothing changes. */
export function forgottenAt(at: number): number {
  return at + history;
}

/** When a restart at that moment is over if nothing changes: once the workload has been complete for long enough, also if it is not any more. */
export function doneAt(
  at: number,
  { completeSince, completedFor }: RestartProgress,
  { minReadySeconds }: RestartStrategy,
  now: number,
): number {
  const needed = minReadySeconds * 1000;
  if (completedFor !== undefined && completedFor >= needed) return at;
  if (completeSince === undefined) return Infinity;
  // A moment that is still to come was written by a clock that is ahead of ours, or by somebody else.
  return (at > now ? completeSince : Math.max(completeSince, at)) + needed;
}

/** When it will be too late, if nothing more is done: large workloads take hours, and that is no reason to stop. */
export function lateAt(
  at: number,
  { progressedAt = at }: Pick<RestartProgress, 'progressedAt'>,
  { readyTimeout }: Pick<RestartStrategy, 'readyTimeout'>,
): number {
  return Math.max(at, progressedAt) + durationMilliseconds(readyTimeout);
}
