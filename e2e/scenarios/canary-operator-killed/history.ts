import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import type { RolloutWrite } from './writes.ts';

export interface StepSeen {
  readonly weight: number;
  /** How the step ends: after its comparisons, after its pause, or because the canary pods fail. */
  readonly ends: 'Compared' | 'Paused' | 'Failed';
  /** The planned pause in milliseconds; undefined if the pause lasts until a user resumes. */
  readonly pauseMs?: number;
  /** The milliseconds for which this machine stalled during the pause. */
  readonly stoodStillMs: number;
  readonly canary: readonly string[];
  /** When each workload first had a ready canary pod, in milliseconds since 1970. */
  readonly readyAt: ReadonlyMap<string, number>;
}

/** An interval without a leader after a kill. The times are in milliseconds since 1970. */
export interface Absence {
  readonly from: number;
  readonly until: number;
}

export interface RolloutEnd {
  readonly phase: 'Promoted' | 'RolledBack';
  readonly reason: string;
  /** The InjectorConfig that all workloads get at the end. */
  readonly injectorConfig: string;
  /** The nonce of the user's abort request. */
  readonly abort?: string;
}

export interface RolloutHistory {
  readonly workloads: number;
  readonly minReadyMs: number;
  readonly minimumPods: number;
  readonly steps: readonly StepSeen[];
  readonly end: RolloutEnd;
  readonly writes: readonly RolloutWrite[];
  /** Workloads that went from the canary to stable before the promotion or rollback. */
  readonly flippedBack: readonly string[];
  readonly restartable: readonly string[];
  /** The request times of all stored pods, in milliseconds since 1970. */
  readonly podsMadeAt: readonly number[];
  readonly absences: readonly Absence[];
}

/** A rule for rollouts. Returns a description of each violation. */
export type Rule = (history: RolloutHistory) => string[];

export type WrittenState = RolloutState & { readonly at: number };

/** Returns the states of this rollout in order, without states of the previous rollout. */
export function statesOf({ writes }: Pick<RolloutHistory, 'writes'>): readonly WrittenState[] {
  const all = writes.flatMap(({ state, at }) => (state === undefined ? [] : [{ ...state, at }]));
  const first = all.findIndex(({ canary }) => canary !== undefined);
  return first === -1 ? [] : all.slice(first);
}

/** Returns the states of one step. */
export function statesOfStep(states: readonly WrittenState[], index: number): readonly WrittenState[] {
  return states.filter(({ canary, step }) => canary !== undefined && step === index);
}

/** Returns the first state after the end of a step. */
export function endOfStep(states: readonly WrittenState[], index: number): WrittenState | undefined {
  return states.find(({ canary, step = -1 }) => canary === undefined || step > index);
}

/** Returns the first paused state of a step. The operator pauses once enough pods are ready. */
export function pauseOfStep(states: readonly WrittenState[], index: number): WrittenState | undefined {
  return states.find(({ phase, step }) => phase === 'Paused' && step === index);
}

/** Returns the paths of the webhook in order, with their times. */
export function pathWritesOf({ writes }: Pick<RolloutHistory, 'writes'>): { path: string; at: number }[] {
  return writes.flatMap(({ path, at }) => (path === undefined ? [] : [{ path, at }]));
}

/** Returns the paths of the webhook in order. */
export function pathsOf(history: Pick<RolloutHistory, 'writes'>): readonly string[] {
  return pathWritesOf(history).map(({ path }) => path);
}
