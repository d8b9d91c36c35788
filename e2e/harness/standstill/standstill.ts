import type { Cluster } from '../cluster.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { StandstillMethods } from './standstill-worker.ts';

/**
 * Starts to measure, in a separate process, how long this machine or the API server stalls.
 * Scenarios add the result to a bound in milliseconds, so that checks do not fail on a busy machine
 * but are strict on an idle machine. On the user's own cluster, the result is always 0.
 */
export function startStandstill({ kubeconfig, controlPlane }: Pick<Cluster, 'kubeconfig' | 'controlPlane'>) {
  const isOurs = kubeconfig !== undefined && controlPlane !== undefined;
  const entry = new URL('./standstill-worker.ts', import.meta.url);
  const worker = isOurs ? new WorkerHandle<StandstillMethods>(entry, { kubeconfig }) : undefined;
  return {
    /** Returns the duration of stalls between two times, all in milliseconds. */
    between: async (from: number, to: number) => Math.ceil((await worker?.call('between', from, to)) ?? 0),
    stop: () => worker?.end(),
  };
}

export type Standstill = ReturnType<typeof startStandstill>;
