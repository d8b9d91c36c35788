import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often a client opens a connection, and how long it waits for one, in milliseconds. */
const [intervalMs, timeoutMs] = [50, 1000];

/** A time in which no connection could be opened, in milliseconds since 1970. */
interface Gap {
  readonly from: number;
  readonly until: number;
}

/** A client that opens connections one after the other, and holds another one. */
export class Client {
  readonly gaps: Gap[] = [];
  opened = 0;
  failed = 0;
  /** How often the connection that it holds was cut. */
  cut = 0;
  readonly #host: string;
  readonly #port: number;
  readonly #running: Promise<unknown>;
  #held: Socket | undefined;
  #isOver = false;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
    this.#running = Promise.all([this.#open(), this.#hold()]);
  }

  /** Stops the client. */
  async stop(): Promise<void> {
    this.#isOver = true;
    // Its end does not count.
    if (this.#held?.destroyed === false) this.cut -= 1;
    this.#held?.destroy();
    await this.#running;
  }

  /** The longest time in which no connection could be opened, in milliseconds. */
  get longest(): number {
    return Math.max(0, ...this.gaps.map(({ from, until }) => until - from));
  }

  async #open(): Promise<void> {
    let from: number | undefined;
    while (!this.#isOver) {
      const now = Date.now();
      const socket = await this.#connect();
      socket?.destroy();
      if (socket === undefined) this.failed += 1;
      else this.opened += 1;
      if (socket !== undefined && from !== undefined) this.gaps.push({ from, until: Date.now() });
      from = socket === undefined ? (from ?? now) : undefined;
      await sleep(intervalMs);
    }
  }

  async #hold(): Promise<void> {
    while (!this.#isOver) {
      this.#held = await this.#connect();
      const held = this.#held;
      if (held !== undefined) {
        await new Promise((resolve) => held.once('close', resolve));
        this.cut += 1;
      }
      await sleep(intervalMs);
    }
  }

  /** Returns a connection; undefined if it is refused, or not there in time. */
  async #connect(): Promise<Socket | undefined> {
    const socket = connect({ host: this.#host, port: this.#port });
    const isConnected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.setTimeout(timeoutMs, () => resolve(false));
    });
    socket.setTimeout(0);
    if (isConnected) return socket.resume();
    socket.destroy();
    return undefined;
  }
}
