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
    const known = this.#sockets.get(address);
    if (known === undefined) this.#sockets.set(address, new Set([socket]));
    else known.add(socket);
  }

  /** @returns its address; `undefined` when it is none of these */
  remove(socket: Socket): string | undefined {
    const address = this.#addresses.get(socket);
    if (address === undefined) return undefined;
    this.#addresses.delete(socket);
    const sockets = this.#sockets.get(address);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#sockets.delete(address);
    return address;
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
