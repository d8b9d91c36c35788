import type { InjectorOptions } from '../../inject/injector.ts';

/** Bounds of the lane. Sizes in bytes, times in milliseconds. */
export interface LaneLimits {
  /** What a review may take, from when it reaches the thread: then the thread is ended, and a new one takes what comes next. */
  readonly deadline: number;
  /** For reviews that do not say how long they can wait. */
  readonly defaultTimeout: number;
  /** All reviews that wait, together; beyond it the largest of them is refused. */
  readonly maxWaitingBytes: number;
  readonly maxWaiting: number;
  /** A thread without work is ended after this time. */
  readonly idle: number;
  /** Configurations that the thread keeps. */
  readonly maxInjectors: number;
  /** Of the thread's heap, in MiB; a review that needs more is refused. */
  readonly heapMebibytes: number;
}

export const defaultLaneLimits: LaneLimits = {
  deadline: 5_000,
  defaultTimeout: 10_000,
  maxWaitingBytes: 40 * 1024 * 1024,
  maxWaiting: 256,
  idle: 15_000,
  maxInjectors: 4,
  heapMebibytes: 384,
};

/**
 * Bounds of a template on the thread that answers requests; beyond them the lane renders it anew, with the template engine's own bounds. Ten times what Istio's
 * sidecar template takes, and still no more than a few milliseconds.
 */
export const mainThreadLimits: NonNullable<InjectorOptions['limits']> = {
  steps: 20_000,
  outputBytes: 256 * 1024,
  work: 1_500_000,
};

/** Bounds of a template on the lane's thread, where nothing waits beside it: a second of work, and no more than half of its heap. */
export const laneThreadLimits: NonNullable<InjectorOptions['limits']> = { work: 48_000_000 };
