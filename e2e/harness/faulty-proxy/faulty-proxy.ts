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

/**
 * An HTTPS proxy between processes and the embedded API server, in a process of its own. It serves with the API server's own certificate, so a kubeconfig
 * only needs another port; tokens pass through (client certificates do not).
 */
export class FaultyProxy {
  readonly url: string;
  readonly #worker: WorkerHandle<FaultyProxyMethods>;
  readonly #held = new Map<number, (write: PassedWrite) => void>();
  readonly #wanted = new Map<number, (write: PassedWrite) => boolean>();
  #holds = 0;

  private constructor(settings: ProxySettings) {
    this.url = `https://127.0.0.1:${settings.port}`;
    this.#worker = new WorkerHandle(new URL('./faulty-proxy-worker.ts', import.meta.url), settings);
    this.#worker.on('held', (data) => {
      const { id, write } = data as { id: number; write: PassedWrite };
      this.#held.get(id)?.(write);
    });
    this.#worker.on('asked', (data) => {
      const { id, question, write } = data as { id: number; question: number; write: PassedWrite };
      const isHeld = this.#wanted.get(id)?.(write) === true;
      if (isHeld) this.#held.get(id)?.(write);
      void this.#worker.call('decide', id, question, isHeld);
    });
  }

  /** @param seed which requests a fault with a share meets */
  static async start(cluster: Cluster, seed: number): Promise<FaultyProxy> {
    const { hostname, port } = new URL(cluster.client.server);
    const file = (name: string) => join(cluster.run.path, 'certificates', name);
    const proxy = new FaultyProxy({
      port: await freePort(),
      upstream: { host: hostname, port: Number(port) },
      certificateFile: file('serving.crt'),
      keyFile: file('serving.key'),
      authorityFile: file('ca.crt'),
      seed,
    });
    await proxy.#worker.call('listening');
    return proxy;
  }

  /** Makes a fault active, behind those that are already. Hanging and cutting also strike the open watches of the class. */
  async fault(fault: Fault) {
    const id = await this.#worker.call('addFault', fault);
    /** Ends it for new requests; how many requests and open watches met it. Those that hang go on hanging. */
    return { end: () => this.#worker.call('removeFault', id) };
  }

  /** Every write that the API server has answered through this proxy, oldest first, with the body that was sent. */
  writes(): Promise<PassedWrite[]> {
    return this.#worker.call('writes');
  }

  /** Holds back the answer to the `after`-th successful write of a class from now on: the moment in which to kill the writer. */
  async holdWrite(match: RequestClass, after: number): Promise<HeldWrite> {
    const { id, held } = this.#newHold();
    await this.#worker.call('hold', id, { match, after });
    return held;
  }

  /** The same for the first one that is wanted, by what was written: asked of each successful write of a class, in their order, until one is. */
  async holdFirst(match: RequestClass, isWanted: (write: PassedWrite) => boolean): Promise<HeldWrite> {
    const { id, held } = this.#newHold();
    this.#wanted.set(id, isWanted);
    await this.#worker.call('ask', id, match);
    return held;
  }

  #newHold(): { id: number; held: HeldWrite } {
    let reach: (write: PassedWrite) => void = () => undefined;
    const reached = new Promise<PassedWrite>((resolve) => {
      reach = resolve;
    });
    const id = ++this.#holds;
    this.#held.set(id, reach);
    return { id, held: { reached, release: () => this.#worker.call('release', id) } };
  }

  async stop(): Promise<void> {
    await this.#worker.end();
  }
}
