import { get } from 'node:http';

/** One TCP connection that the balancer forwarded. Times are in milliseconds since 1970. */
export interface ConnectionRecord {
  backend: string;
  openedAt: number;
  closedAt: number | undefined;
  /** The side that ended it; `refused` when the backend did not accept it. */
  closedBy: 'client' | 'backend' | 'refused' | undefined;
  bytesUp: number;
  bytesDown: number;
  /** Whether the client's last bytes have no answer yet: a handshake or request is in flight. */
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
  /** The URL of its readiness probe: `http://127.0.0.1:PORT/readyz`. */
  readyUrl: string;
}

export interface BalancerTimes {
  /** The milliseconds between two probes of a backend. */
  probeInterval: number;
  /** The milliseconds after which a probe without an answer has failed. */
  probeTimeout: number;
  /** Unanswered probes in a row until a backend is unready. An answer or refusal counts at once. */
  probeFailures: number;
  /** The milliseconds until new connections follow a change of readiness, as with kube-proxy. */
  delay: number;
}

/** One replica behind the balancer, with its readiness and whether it gets new connections. */
export class Backend {
  readonly address: BackendAddress;
  readonly connections: ConnectionRecord[] = [];
  isReady = false;
  isInRotation = false;
  /** The time at which it last left the rotation, in milliseconds since 1970. */
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
      // A busy machine can stall a process for a second; one missed probe must not drop a backend.
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
