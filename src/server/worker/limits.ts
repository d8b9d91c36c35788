import type { InjectorOptions } from '../../inject/injector.ts';

/**
 * The limits of a template on the main thread: ten times the cost of Istio's sidecar template, but
 * only a few milliseconds. If a template exceeds these limits, the worker renders the pod with
 * higher limits.
 */
export const mainThreadLimits: NonNullable<InjectorOptions['limits']> = {
  steps: 20_000,
  outputBytes: 256 * 1024,
  work: 1_500_000,
};

/** The limits of a template on the worker: a second of work, or half of the worker's heap. */
export const workerLimits: NonNullable<InjectorOptions['limits']> = { work: 48_000_000 };
