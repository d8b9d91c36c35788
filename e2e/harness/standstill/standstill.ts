import type { Cluster } from '../cluster.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { StandstillMethods } from './standstill-worker.ts';

/**
 * Begins to look for how long this machine or the API server stands still: a bound in milliseconds on what the product does is held beside it, so that a
 * machine that does other things for a while says nothing about the product, and on an idle one the bound is what it says. It looks from a process of its
 * own: what keeps the main thread busy is no standstill. On a cluster of the user's own, whose load is not ours to know, nothing counts as one.
 */
export function startStandstill({ kubeconfig, controlPlane }: Pick<Cluster, 'kubeconfig' | 'controlPlane'>) {
  const isOurs = kubeconfig !== undefined && controlPlane !== undefined;
  const entry = new URL('./standstill-worker.ts', import.meta.url);
  const worker = isOurs ? new WorkerHandle<StandstillMethods>(entry, { kubeconfig }) : undefined;
  return {
    /** Milliseconds within a time (milliseconds since 1970) in which a thread of this machine that could have run was not run, or the API server answered late. */
    between: async (from: number, to: number) => Math.ceil((await worker?.call('between', from, to)) ?? 0),
    stop: () => worker?.end(),
  };
}

export type Standstill = ReturnType<typeof startStandstill>;
