import { get } from 'node:http';

/** A TCP connection that the balancer forwarded. Times are in milliseconds since 1970. */
export interface ConnectionRecord {
  backend: string;
  /** Ends with the server name that the client sent; undefined before its first bytes. */
  host: string | undefined;
  openedAt: number;
  closedAt: number | undefined;
  /** The side that ended the connection; `refused` if the backend did not accept it. */
  closedBy: 'client' | 'backend' | 'refused' | undefined;
  bytesUp: number;
  bytesDown: number;
  /** Whether a handshake or request is in flight: the client's last bytes have no answer yet. */
  isWaiting: boolean;
}

export interface BackendAddress {
  name: string;
  port: number;
  /** The URL of the backend's readiness probe: `http://127.0.0.1:PORT/readyz`. */
  readyUrl: string;
}

export interface BalancerTimes {
  /** The milliseconds between two probes of a backend. */
  probeInterval: number;
  /** The milliseconds after which an unanswered probe fails. */
  probeTimeout: number;
  /** The number of unanswered probes in a row after which a backend is unready. */
  probeFailures: number;
  /** The milliseconds until a change of readiness affects new connections, as with kube-proxy. */
  delay: number;
}

/** A replica behind the balancer: whether it is ready, and whether it gets new connections. */
export class Backend {
  readonly address: BackendAddress;
  readonly connections: ConnectionRecord[] = [];
  isReady = false;
  isInRotation = false;
  /** The time at which the backend last left the rotation, in milliseconds since 1970. */
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
      // A busy machine can stall a process for a second, so one missed probe must not drop a
      // backend.
      const ready = answer === 'none' && unanswered < this.#times.probeFailures ? this.isReady : answer === 'ready';
      if (ready !== this.isReady) {
        this.isReady = ready;
        this.#timer = setTimeout(() => this.#setInRotation(ready), this.#times.delay);
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
    request.once('error', () => resolve('unready'));
  });
}
