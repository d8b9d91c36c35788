import { freePort } from '../free-port.ts';
import { waitFor } from '../wait-for.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { BackendAddress, BackendState, BalancerTimes, ConnectionRecord } from './backend.ts';
import type { BalancerMethods } from './balancer-worker.ts';

const defaultTimes: BalancerTimes = { probeInterval: 200, probeTimeout: 1000, probeFailures: 3, delay: 500 };

/**
 * A TCP balancer in front of replicas, in a process of its own. It passes TLS through, gives new connections to the backends whose readiness said so a
 * while ago (a kube-proxy is late, too), in turn, and never retries: a connection that a backend refuses is lost. Established connections stay where
 * they are.
 */
export class Balancer {
  readonly port: number;
  readonly #worker: WorkerHandle<BalancerMethods>;

  private constructor(port: number, times: BalancerTimes) {
    this.port = port;
    this.#worker = new WorkerHandle(new URL('./balancer-worker.ts', import.meta.url), { port, times });
  }

  static async start(times: Partial<BalancerTimes> = {}): Promise<Balancer> {
    const balancer = new Balancer(await freePort(), { ...defaultTimes, ...times });
    await balancer.#worker.call('listening');
    return balancer;
  }

  add(address: BackendAddress): Promise<void> {
    return this.#worker.call('add', address);
  }

  /** Takes a backend out at once; what is connected to it stays. */
  remove(name: string): Promise<void> {
    return this.#worker.call('remove', name);
  }

  states(): Promise<BackendState[]> {
    return this.#worker.call('states');
  }

  connections(): Promise<ConnectionRecord[]> {
    return this.#worker.call('connections');
  }

  async waitForRotation(names: string[], timeout = 60_000): Promise<void> {
    const wanted = [...names].sort().join(', ');
    await waitFor(
      `the balancer to use ${wanted === '' ? 'nobody' : wanted}`,
      async () => {
        const used = (await this.states()).filter(({ isInRotation }) => isInRotation).map(({ name }) => name);
        return used.sort().join(', ') === wanted;
      },
      { timeout },
    );
  }

  async waitUntilUsed(name: string): Promise<void> {
    await waitFor(`the balancer to use ${name}`, async () =>
      (await this.states()).some((each) => each.name === name && each.isInRotation),
    );
  }

  /** Waits until a backend that was killed at `time` is dropped, and counts what was on it. */
  async deathToll(name: string, time: number) {
    const droppedAt = await waitFor(`the balancer to drop ${name}`, async () => {
      const at = await this.#worker.call('droppedAt', name);
      return at !== undefined && at >= time ? at : undefined;
    });
    const connections = (await this.connections()).filter(({ backend }) => backend === name);
    const alive = connections.filter(
      ({ openedAt, closedAt }) => openedAt < time && (closedAt === undefined || closedAt >= time),
    );
    return {
      /** Connections on which something was under way. */
      inFlight: alive.filter(({ isWaiting }) => isWaiting).length,
      /** Connections that were opened to it afterwards, until the balancer dropped it. */
      openedAfterwards: connections.filter(({ openedAt }) => openedAt >= time && openedAt <= droppedAt).length,
      /** Milliseconds from the death until it was dropped. */
      droppedAfter: droppedAt - time,
    };
  }

  /** Waits until a backend that was frozen at `time` is dropped; how many connections it had, or got until then. */
  async stuckOn(name: string, time: number): Promise<{ open: number; droppedAfter: number }> {
    const { droppedAfter } = await this.deathToll(name, time);
    const connections = (await this.connections()).filter(({ backend }) => backend === name);
    const open = connections.filter(({ closedAt }) => closedAt === undefined || closedAt >= time).length;
    return { open, droppedAfter };
  }

  async stop(): Promise<void> {
    await this.#worker.end();
  }
}
