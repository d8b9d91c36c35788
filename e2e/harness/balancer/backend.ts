import { get } from 'node:http';

/** One TCP connection that the balancer has passed on. Times are milliseconds since 1970. */
export interface ConnectionRecord {
  backend: string;
  openedAt: number;
  closedAt: number | undefined;
  /** Who ended it: `refused` when the backend did not accept it. */
  closedBy: 'client' | 'backend' | 'refused' | undefined;
  bytesUp: number;
  bytesDown: number;
  /** Whether the client had sent something last that was not answered when it ended (or now): a handshake or a request is under way. */
  isWaiting: boolean;
}

export interface BackendState {
  name: string;
  isReady: boolean;
  isInRotation: boolean;
  open: number;
  opened: number;
}

export interface BackendAddress {
  name: string;
  port: number;
  /** Where its readiness is asked for: `http://127.0.0.1:PORT/readyz`. */
  readyUrl: string;
}

export interface BalancerTimes {
  /** Milliseconds between two probes of a backend. */
  probeInterval: number;
  /** Milliseconds after which a probe that is not answered has failed. */
  probeTimeout: number;
  /**
   * How many probes in a row must have had no answer until a backend is not ready: a kubelet's failureThreshold. An answer that says so, or a refused
   * connection, is believed at once.
   */
  probeFailures: number;
  /** Milliseconds from a change of readiness until new connections follow it, as a kube-proxy needs them. */
  delay: number;
}

/** One replica behind the balancer: whether it is ready, and, later, whether it gets new connections. */
export class Backend {
  readonly address: BackendAddress;
  readonly connections: ConnectionRecord[] = [];
  isReady = false;
  isInRotation = false;
  /** When it last left the rotation, in milliseconds since 1970. */
  droppedAt: number | undefined;
  readonly #times: BalancerTimes;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(address: BackendAddress, times: BalancerTimes) {
    this.address = address;
    this.#times = times;
    void this.#follow();
  }

  remove(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#setInRotation(false);
  }

  async #follow(): Promise<void> {
    let unanswered = 0;
    for (;;) {
      const answer = await probe(this.address.readyUrl, this.#times.probeTimeout);
      if (this.#stopped) return;
      unanswered = answer === 'none' ? unanswered + 1 : 0;
      // A busy machine can keep a process from running for a second; that alone does not take a backend out of rotation.
      const ready = answer === 'none' && unanswered < this.#times.probeFailures ? this.isReady : answer === 'ready';
      if (ready !== this.isReady) {
        this.isReady = ready;
        this.#timer = setTimeout(() => {
          this.#setInRotation(ready);
        }, this.#times.delay);
      }
      await new Promise((resolve) => setTimeout(resolve, this.#times.probeInterval));
    }
  }

  #setInRotation(value: boolean): void {
    if (this.isInRotation && !value) this.droppedAt = Date.now();
    this.isInRotation = value;
  }
}

function probe(url: string, timeout: number): Promise<'ready' | 'unready' | 'none'> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? 'ready' : 'unready');
    });
    request.once('timeout', () => {
      resolve('none');
      request.destroy();
    });
    request.once('error', () => {
      resolve('unready');
    });
  });
}
