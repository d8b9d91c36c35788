import type { Cluster } from '../cluster.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { StandstillMethods } from './standstill-worker.ts';

/**
 * Knows for how long this machine or the API server stood still: a bound in milliseconds on what the product does is held beside it, so that a machine
 * that does other things for a while says nothing about the product, and on an idle one the bound is what it says. It looks from a process of its own: what
 * keeps the main thread busy is no standstill.
 */
export class Standstill {
  readonly #worker: WorkerHandle<StandstillMethods> | undefined;

  private constructor(worker: WorkerHandle<StandstillMethods> | undefined) {
    this.#worker = worker;
  }

  /** Begins to look, until {@link Standstill.stop}. On a cluster of the user's own, whose load is not ours to know, nothing counts as one. */
  static start({ kubeconfig, controlPlane }: Pick<Cluster, 'kubeconfig' | 'controlPlane'>): Standstill {
    if (kubeconfig === undefined || controlPlane === undefined) return new Standstill(undefined);
    return new Standstill(new WorkerHandle(new URL('./standstill-worker.ts', import.meta.url), { kubeconfig }));
  }

  /** Milliseconds within a time (milliseconds since 1970) in which a thread of this machine that could have run was not run, or the API server answered late. */
  async between(from: number, to: number): Promise<number> {
    return Math.ceil((await this.#worker?.call('between', from, to)) ?? 0);
  }

  async stop(): Promise<void> {
    await this.#worker?.end();
  }
}
