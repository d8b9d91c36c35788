import type { Cluster } from '../cluster.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { StandstillMethods } from './standstill-worker.ts';

/**
 * Starts to measure, in a worker process, how long this machine or the API server stalls. Scenarios
 * add the result to a bound in milliseconds, so that a busy machine does not fail a check and an
 * idle machine gets no slack. On the user's own cluster nothing counts as a stall.
 */
export function startStandstill({ kubeconfig, controlPlane }: Pick<Cluster, 'kubeconfig' | 'controlPlane'>) {
  const isOurs = kubeconfig !== undefined && controlPlane !== undefined;
  const entry = new URL('./standstill-worker.ts', import.meta.url);
  const worker = isOurs ? new WorkerHandle<StandstillMethods>(entry, { kubeconfig }) : undefined;
  return {
    /** Returns the milliseconds of stalls between two times, in milliseconds since 1970. */
    between: async (from: number, to: number) => Math.ceil((await worker?.call('between', from, to)) ?? 0),
    stop: () => worker?.end(),
  };
}

export type Standstill = ReturnType<typeof startStandstill>;
