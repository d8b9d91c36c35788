import type { InjectorOptions } from '../../inject/injector.ts';

/**
 * Bounds of a template on the thread that answers requests. Beyond them the worker renders the pod again, with the template engine's own bounds. Ten times what
 * Istio's sidecar template takes, and still no more than a few milliseconds.
 */
export const mainThreadLimits: NonNullable<InjectorOptions['limits']> = {
  steps: 20_000,
  outputBytes: 256 * 1024,
  work: 1_500_000,
};

/** Bounds of a template where nothing waits beside it: a second of work, and no more than half of the worker's heap. */
export const workerLimits: NonNullable<InjectorOptions['limits']> = { work: 48_000_000 };
