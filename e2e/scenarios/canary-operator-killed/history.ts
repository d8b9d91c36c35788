import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import type { RolloutWrite } from './writes.ts';

export interface StepSeen {
  readonly weight: number;
  /** After which it ends: its comparisons, its pause, or by what becomes of its pods. */
  readonly ends: 'Compared' | 'Paused' | 'Failed';
  /** How long its pause is; undefined: until somebody ends it. Milliseconds. */
  readonly pauseMs?: number;
  /** For how long this machine stood still while it was paused. Milliseconds. */
  readonly stoodStillMs: number;
  readonly canary: readonly string[];
  /** When each of these had its first pod that was ready: before, there was no evidence. Milliseconds since 1970. */
  readonly readyAt: ReadonlyMap<string, number>;
}

/** A time in which nobody led: from the death of a leader until somebody has the Lease. Milliseconds since 1970. */
export interface Absence {
  readonly from: number;
  readonly until: number;
}

export interface RolloutEnd {
  readonly phase: 'Promoted' | 'RolledBack';
  readonly reason: string;
  /** The InjectorConfig that everybody gets then. */
  readonly place: string;
  /** What marks the request of a person who has aborted it. */
  readonly abort?: string;
}

export interface RolloutHistory {
  readonly workloads: number;
  readonly minReadyMs: number;
  readonly minimumPods: number;
  readonly steps: readonly StepSeen[];
  readonly end: RolloutEnd;
  readonly writes: readonly RolloutWrite[];
  /** Workloads that got a pod of the stable revision after one of the canary, while the canary was neither promoted nor rolled back. */
  readonly flippedBack: readonly string[];
  readonly restartable: readonly string[];
  /** When the API server was asked for each pod that it has stored. Milliseconds since 1970. */
  readonly podsMadeAt: readonly number[];
  readonly absences: readonly Absence[];
}

/** What a rollout must not do: sentences about what it did, none when all is well. */
export type Rule = (history: RolloutHistory) => string[];

export type WrittenState = RolloutState & { readonly at: number };

/** What was said of the rollout, one after the other; what the rollout before has left may be written once more, and is left out. */
export function statesOf({ writes }: Pick<RolloutHistory, 'writes'>): readonly WrittenState[] {
  const all = writes.flatMap(({ state, at }) => (state === undefined ? [] : [{ ...state, at }]));
  const first = all.findIndex(({ canary }) => canary !== undefined);
  return first === -1 ? [] : all.slice(first);
}

/** The states of one step. */
export function statesOfStep(states: readonly WrittenState[], index: number): readonly WrittenState[] {
  return states.filter(({ canary, step }) => canary !== undefined && step === index);
}

/** The first state in which a step was over. */
export function endOfStep(states: readonly WrittenState[], index: number): WrittenState | undefined {
  return states.find(({ canary, step = -1 }) => canary === undefined || step > index);
}

/** The first state that says that the evidence of a step is there. */
export function pauseOfStep(states: readonly WrittenState[], index: number): WrittenState | undefined {
  return states.find(({ phase, step }) => phase === 'Paused' && step === index);
}

/** Where the webhook led, one after the other, and since when. */
export function pathWritesOf({ writes }: Pick<RolloutHistory, 'writes'>): { path: string; at: number }[] {
  return writes.flatMap(({ path, at }) => (path === undefined ? [] : [{ path, at }]));
}

/** Where the webhook led, one after the other. */
export function pathsOf(history: Pick<RolloutHistory, 'writes'>): readonly string[] {
  return pathWritesOf(history).map(({ path }) => path);
}
