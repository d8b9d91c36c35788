import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';
import { freePort } from '../free-port.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { Fault, RequestClass } from './fault.ts';
import type { FaultyProxyMethods, PassedWrite, ProxySettings } from './faulty-proxy-worker.ts';

/** A write whose response the proxy holds back. */
export interface HeldWrite {
  /** Resolves when the API server has performed the write. */
  reached: Promise<PassedWrite>;
  /** Forwards the response. Until then, the client waits forever. */
  release: () => Promise<void>;
}

export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>;

/**
 * Starts an HTTPS proxy between processes and the embedded API server, in a separate process. The
 * proxy uses the API server's certificate, so a kubeconfig needs only another port. The proxy
 * passes tokens on, but no client certificates.
 *
 * @param seed decides which requests a fault affects if its `share` is below 1
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
  const predicates = new Map<number, (write: PassedWrite) => boolean>();
  worker.on('asked', (data) => {
    const { id, question, write } = data as { id: number; question: number; write: PassedWrite };
    const isHeld = predicates.get(id)?.(write) === true;
    if (isHeld) reached.get(id)?.(write);
    void worker.call('decide', id, question, isHeld);
  });
  await worker.call('listening');
  let holds = 0;
  return {
    url: `https://127.0.0.1:${settings.port}`,

    /** Adds a fault after existing faults. `hang` and `cut` also affect matching open watches. */
    fault: async (fault: Fault) => {
      const id = await worker.call('addFault', fault);
      /** Ends the fault for new requests. Returns the number of affected requests and watches. */
      return { end: () => worker.call('removeFault', id) };
    },

    /** Returns all answered writes with their bodies, oldest first. */
    writes: (): Promise<PassedWrite[]> => worker.call('writes'),

    /** Holds the response to the first matching successful write that the predicate accepts. */
    holdFirst: async (match: RequestClass, isAccepted: (write: PassedWrite) => boolean): Promise<HeldWrite> => {
      const id = ++holds;
      const isReached = new Promise<PassedWrite>((resolve) => reached.set(id, resolve));
      predicates.set(id, isAccepted);
      await worker.call('ask', id, match);
      return { reached: isReached, release: () => worker.call('release', id) };
    },

    stop: () => worker.end(),
  };
}
