import type { Socket } from 'node:net';

/**
 * Bounds the number of connections without touching those that work. A connection is *proven* once a review on it was answered; the API server keeps such
 * connections idle, and never retries a request that meets a closed one. Under pressure the oldest unproven connection goes: an honest one is proven
 * within milliseconds.
 */
export class ConnectionGuard {
  readonly #limits: { readonly maxConnections: number; readonly maxUnprovenConnections: number };
  readonly #dropped: () => void;
  /** In order of arrival. */
  readonly #unproven = new Set<Socket>();
  readonly #proven = new Set<Socket>();

  /** @param dropped told of each connection that is closed under pressure */
  constructor(
    limits: { readonly maxConnections: number; readonly maxUnprovenConnections: number },
    dropped: () => void,
  ) {
    this.#limits = limits;
    this.#dropped = dropped;
  }

  get size(): number {
    return this.#unproven.size + this.#proven.size;
  }

  get unproven(): number {
    return this.#unproven.size;
  }

  /** Takes note of a new connection, and makes room for it. */
  admit(socket: Socket): void {
    this.#unproven.add(socket);
    socket.once('close', () => {
      this.#unproven.delete(socket);
      this.#proven.delete(socket);
    });
    while (this.#unproven.size > this.#limits.maxUnprovenConnections || this.size > this.#limits.maxConnections) {
      const [oldest] = this.#unproven;
      if (oldest === undefined) return;
      this.#unproven.delete(oldest);
      oldest.destroy();
      this.#dropped();
    }
  }

  isProven(socket: Socket): boolean {
    return this.#proven.has(socket);
  }

  /** A review on it was answered: from now on it is not closed under pressure. */
  prove(socket: Socket): void {
    if (this.#unproven.delete(socket)) this.#proven.add(socket);
  }

  /** Ends every connection, the working ones too. */
  destroyAll(): void {
    for (const socket of [...this.#unproven, ...this.#proven]) socket.destroy();
  }
}
