import type { Socket } from 'node:net';

/** Connections in the order in which they came, all of them and those of one client address. */
export class SocketsByAddress {
  readonly #addresses = new Map<Socket, string>();
  readonly #sockets = new Map<string, Set<Socket>>();

  get size(): number {
    return this.#addresses.size;
  }

  /** How many addresses have one or more. */
  get addresses(): number {
    return this.#sockets.size;
  }

  add(socket: Socket, address: string): void {
    this.#addresses.set(socket, address);
    this.#sockets.set(address, (this.#sockets.get(address) ?? new Set()).add(socket));
  }

  remove(socket: Socket): void {
    const address = this.#addresses.get(socket) ?? '';
    if (!this.#addresses.delete(socket)) return;
    const sockets = this.#sockets.get(address);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#sockets.delete(address);
  }

  has(socket: Socket): boolean {
    return this.#addresses.has(socket);
  }

  addressOf(socket: Socket): string | undefined {
    return this.#addresses.get(socket);
  }

  countOf(address: string): number {
    return this.#sockets.get(address)?.size ?? 0;
  }

  /** The one that came first, of all or of one address. */
  oldest(address?: string): Socket | undefined {
    const sockets = address === undefined ? this.#addresses.keys() : this.#sockets.get(address);
    const [first] = sockets ?? [];
    return first;
  }

  all(): Socket[] {
    return [...this.#addresses.keys()];
  }
}
