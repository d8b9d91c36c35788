import { freePort } from '../free-port.ts';
import { waitFor } from '../wait-for.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { BackendAddress, BalancerTimes, ConnectionRecord } from './backend.ts';
import type { BalancerMethods } from './balancer-worker.ts';

const defaultTimes: BalancerTimes = { probeInterval: 200, probeTimeout: 1000, probeFailures: 3, delay: 500 };

export type Balancer = Awaited<ReturnType<typeof startBalancer>>;

/**
 * Starts a TCP balancer in front of replicas, in a separate process. It passes TLS through, and
 * assigns new connections round-robin to backends that became ready some time ago (like kube-proxy,
 * which lags). It never retries a refused connection and never moves a connection.
 */
export async function startBalancer(times: Partial<BalancerTimes> = {}) {
  const port = await freePort();
  const settings = { port, times: { ...defaultTimes, ...times } };
  const worker = new WorkerHandle<BalancerMethods>(new URL('./balancer-worker.ts', import.meta.url), settings);
  await worker.call('listening');
  const connections = (): Promise<ConnectionRecord[]> => worker.call('connections');
  const connectionsOf = async (name: string) => (await connections()).filter(({ backend }) => backend === name);

  /** Waits until the balancer drops a backend that died at `time`. Counts its connections. */
  const deathToll = async (name: string, time: number) => {
    const droppedAt = await waitFor(`the balancer to drop ${name}`, async () => {
      const at = await worker.call('droppedAt', name);
      return at !== undefined && at >= time ? at : undefined;
    });
    const all = await connectionsOf(name);
    const alive = all.filter(({ openedAt, closedAt = Infinity }) => openedAt < time && closedAt >= time);
    return {
      /** The number of connections with a request or handshake in flight. */
      inFlight: alive.filter(({ isWaiting }) => isWaiting).length,
      /** The number of connections opened between the kill and the drop of the backend. */
      openedAfterwards: all.filter(({ openedAt }) => openedAt >= time && openedAt <= droppedAt).length,
      /** The milliseconds from the kill until the balancer dropped the backend. */
      droppedAfter: droppedAt - time,
    };
  };

  return {
    port,
    connections,
    deathToll,
    add: (address: BackendAddress) => worker.call('add', address),
    /** Removes a backend from the rotation immediately. Its connections stay open. */
    remove: (name: string) => worker.call('remove', name),
    waitForRotation: async (names: string[]): Promise<void> => {
      const desired = [...names].sort().join(', ');
      const isSo = async () => (await worker.call('inRotation')).sort().join(', ') === desired;
      await waitFor(`the balancer to use ${desired === '' ? 'no backend' : desired}`, isSo);
    },
    waitUntilUsed: (name: string) =>
      waitFor(`the balancer to use ${name}`, async () => (await worker.call('inRotation')).includes(name)),
    /** Waits until the balancer drops a backend that froze at `time`. Counts its connections. */
    stuckOn: async (name: string, time: number): Promise<number> => {
      await deathToll(name, time);
      return (await connectionsOf(name)).filter(({ closedAt = Infinity }) => closedAt >= time).length;
    },
    stop: () => worker.end(),
  };
}
