import { durationMilliseconds } from '../api/duration.ts';
import type { RestartStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutWorkload } from '../routing/workload-key.ts';
import type { FairShares } from './fair-shares.ts';
import type { Refusal } from './observation.ts';

/** The observed progress of the latest restart of a workload. */
export interface RestartProgress {
  /** The time since which all pods are available and up to date, in milliseconds since 1970. */
  readonly completeSince?: number | undefined;
  /** The longest time for which the workload was complete since the restart, in milliseconds. */
  readonly completedFor?: number | undefined;
  /** When the number of new or available pods last grew, in milliseconds since 1970. */
  readonly progressedAt?: number | undefined;
}

/** A PodDisruptionBudget that covers the pods of a workload. */
export interface CoveringBudget {
  readonly name: string;
  readonly disruptionsAllowed: number;
}

/** The restart that our annotation on a workload's pod template records for the tag. */
export interface OwnRestart {
  /** The configuration that the new pods were expected to get, as `N.<hash8>`. */
  readonly target: string;
  /** The time of the restart, in milliseconds since 1970. */
  readonly at: number;
  /** Whether another client removed or changed the annotation. */
  readonly isLost?: boolean;
  /** Whether the restart no longer counts: the target has changed since, perhaps back again. */
  readonly isOvertaken?: boolean;
}

/** A workload with its `workloadKey`. */
export interface KeyedWorkload extends RolloutWorkload {
  readonly key: string;
}

/** The reason why a workload is not restarted, if its pods are not the reason. */
export interface RestartHold {
  readonly reason: string;
  readonly message: string;
  /** Whether a write of the workload has failed. */
  readonly isFailure?: boolean;
}

/** A workload that was restarted for the tag, or that has pods that follow the tag. */
export interface RestartCandidate extends KeyedWorkload, RestartProgress {
  /** The number of stale pods, with those in `missing`. */
  readonly stale: number;
  /** The number of pods that should have a sidecar and have none, if they are to be replaced. */
  readonly missing?: number | undefined;
  /** The configuration that new pods would get, as `N.<hash8>`. */
  readonly target: string;
  readonly restarted?: OwnRestart | undefined;
  /** The number of crashing pods that the restart `restarted` created. */
  readonly crashing?: number | undefined;
  /** The refusals of the pods that the restart `restarted`, or another change, would create. */
  readonly refused?: Refusal | undefined;
  /** The number of pods without a sidecar that the restart `restarted` created. */
  readonly uninjected?: number | undefined;
  /** The type of `spec.strategy` or `spec.updateStrategy`. */
  readonly updateType?: string | undefined;
  /** `spec.updateStrategy.rollingUpdate.partition`: pods with lower ordinals are not replaced. */
  readonly partition?: number;
  /** `spec.paused`. */
  readonly paused: boolean;
  /** Whether a user excluded the workload by annotation. */
  readonly isExcluded?: boolean;
  /** Why the namespace denies restarts. */
  readonly denied?: RestartHold | undefined;
  /** Whether its pods are updated in place, one after the other, instead of by a restart. */
  readonly isInPlace?: boolean;
  /** The number of pods whose update in place is under way. */
  readonly updating?: number;
  /** The first update in place to the target that failed: the pod and why. */
  readonly updateFailed?: string | undefined;
  /** Whether the pod template contains the sidecar, so that a restart changes nothing. */
  readonly isInjectedByHand?: boolean;
  /** Whether any of its pods has a canary that was rolled back. */
  readonly rolledBack?: boolean;
  readonly hold?: RestartHold | undefined;
  /** The reason why the operator never restarts the workload, if other fields do not show it. */
  readonly leftOut?: RestartHold | undefined;
  /** Whether the workload comes last, because many writes fail in its namespace. */
  readonly isDeferred?: boolean;
  readonly budgets: readonly CoveringBudget[];
}

/** A workload whose latest restart was for another tag. */
export interface OtherRestart extends KeyedWorkload, RestartProgress {
  readonly tag: string;
  /** The time of the restart, in milliseconds since 1970. */
  readonly at: number;
  readonly budgets: readonly CoveringBudget[];
}

/** A workload whose restart was sent to the API server, which did not answer. */
export interface UncertainRestart extends KeyedWorkload {
  readonly budgets: readonly CoveringBudget[];
}

/** The input for the restarts of one tag. */
export interface RestartSituation {
  readonly own: readonly RestartCandidate[];
  readonly others: readonly OtherRestart[];
  readonly uncertain?: readonly UncertainRestart[];
  /** When the next window opens, in ms since 1970; undefined if restarts may begin now. */
  readonly opensAt?: number | undefined;
  /** The turns of the namespaces until now; by default, no namespace had a turn. */
  readonly shares?: FairShares;
}

/** How long a restart counts as the cause of an incomplete workload, in milliseconds. */
const history = 24 * 3_600_000;

/** Reports whether a workload was restarted for its current target. */
export function isCurrent({ restarted, target }: RestartCandidate): boolean {
  return restarted?.target === target && restarted.isOvertaken !== true;
}

/** Returns when a workload was restarted for the tag, in ms since 1970, or -Infinity. */
export function restartedAt({ restarted }: RestartCandidate): number {
  return restarted?.at ?? -Infinity;
}

/** Reports whether a restart is recent enough to be the cause of the observed state. */
export function isRecent(at: number, now: number): boolean {
  return Math.abs(now - at) < history;
}

/** Returns when a restart is no longer recent. */
export function forgottenAt(at: number): number {
  return at + history;
}

/** Returns when a workload will have been complete for `minReadySeconds` if nothing changes. */
export function doneAt(
  at: number,
  { completeSince, completedFor }: RestartProgress,
  { minReadySeconds }: RestartStrategy,
  now: number,
): number {
  const needed = minReadySeconds * 1000;
  if (completedFor !== undefined && completedFor >= needed) return at;
  if (completeSince === undefined) return Infinity;
  // A time in the future comes from a fast clock, or from another client.
  return (at > now ? completeSince : Math.max(completeSince, at)) + needed;
}

/** Returns when a restart becomes late. Progress extends this time for large workloads. */
export function lateAt(
  at: number,
  { progressedAt = at }: Pick<RestartProgress, 'progressedAt'>,
  { readyTimeout }: Pick<RestartStrategy, 'readyTimeout'>,
): number {
  return Math.max(at, progressedAt) + durationMilliseconds(readyTimeout);
}
