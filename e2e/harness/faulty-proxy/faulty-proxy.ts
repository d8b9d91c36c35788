import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';
import { freePort } from '../free-port.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { Fault, RequestClass } from './fault.ts';
import type { FaultyProxyMethods, PassedWrite, ProxySettings } from './faulty-proxy-worker.ts';

/** A write after which its client waits for the answer. */
interface HeldWrite {
  /** Resolves when the API server has done the write; its answer is held back. */
  reached: Promise<PassedWrite>;
  /** Passes the answer on. Without it the client waits for ever. */
  release: () => Promise<void>;
}

export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>;

/**
 * An HTTPS proxy between processes and the embedded API server, in a process of its own. It serves with the API server's own certificate, so a kubeconfig
 * only needs another port; tokens pass through (client certificates do not).
 *
 * @param seed which requests a fault with a share meets
 */
export async function startFaultyProxy(cluster: Cluster, seed: number) {
  const { hostname, port } = new URL(cluster.client.server);
  const file = (name: string) => join(cluster.run.path, 'certificates', name);
  const settings: ProxySettings = {
    port: await freePort(),
    upstream: { host: hostname, port: Number(port) },
    certificateFile: file('serving.crt'),
    keyFile: file('serving.key'),
    authorityFile: file('ca.crt'),
    seed,
  };
  const worker = new WorkerHandle<FaultyProxyMethods>(new URL('./faulty-proxy-worker.ts', import.meta.url), settings);
  const reached = new Map<number, (write: PassedWrite) => void>();
  const wanted = new Map<number, (write: PassedWrite) => boolean>();
  worker.on('held', (data) => {
    const { id, write } = data as { id: number; write: PassedWrite };
    reached.get(id)?.(write);
  });
  worker.on('asked', (data) => {
    const { id, question, write } = data as { id: number; question: number; write: PassedWrite };
    const isHeld = wanted.get(id)?.(write) === true;
    if (isHeld) reached.get(id)?.(write);
    void worker.call('decide', id, question, isHeld);
  });
  await worker.call('listening');
  let holds = 0;
  const newHold = (): { id: number; held: HeldWrite } => {
    const id = ++holds;
    const isReached = new Promise<PassedWrite>((resolve) => reached.set(id, resolve));
    return { id, held: { reached: isReached, release: () => worker.call('release', id) } };
  };
  return {
    url: `https://127.0.0.1:${settings.port}`,

    /** Makes a fault active, behind those that are already. Hanging and cutting also strike the open watches of the class. */
    fault: async (fault: Fault) => {
      const id = await worker.call('addFault', fault);
      /** Ends it for new requests; how many requests and open watches met it. Those that hang go on hanging. */
      return { end: () => worker.call('removeFault', id) };
    },

    /** Every write that the API server has answered through this proxy, oldest first, with the body that was sent. */
    writes: (): Promise<PassedWrite[]> => worker.call('writes'),

    /** Holds back the answer to the `after`-th successful write of a class from now on: the moment in which to kill the writer. */
    holdWrite: async (match: RequestClass, after: number): Promise<HeldWrite> => {
      const { id, held } = newHold();
      await worker.call('hold', id, { match, after });
      return held;
    },

    /** The same for the first one that is wanted, by what was written: asked of each successful write of a class, in their order, until one is. */
    holdFirst: async (match: RequestClass, isWanted: (write: PassedWrite) => boolean): Promise<HeldWrite> => {
      const { id, held } = newHold();
      wanted.set(id, isWanted);
      await worker.call('ask', id, match);
      return held;
    },

    stop: () => worker.end(),
  };
}
