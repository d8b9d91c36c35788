import type { Socket } from 'node:net';

/** Connections in order of arrival, in total and by client address. */
class SocketsByAddress {
  readonly #addresses = new Map<Socket, string>();
  readonly #sockets = new Map<string, Set<Socket>>();

  get size(): number {
    return this.#addresses.size;
  }

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

  /** Returns the oldest connection of one address, or of all addresses. */
  oldest(address?: string): Socket | undefined {
    const sockets = address === undefined ? this.#addresses.keys() : this.#sockets.get(address);
    const [first] = sockets ?? [];
    return first;
  }

  all(): Socket[] {
    return [...this.#addresses.keys()];
  }
}

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** The part of maxConnections for unproven connections; the rest is for proven connections. */
  readonly maxUnprovenConnections: number;
}

/** One slot in eight for proven connections is reserved for addresses with few connections. */
const reserved = 8;

/**
 * Limits the number of connections without breaking connections in use. A connection is *proven*
 * once a review on it was answered. API servers keep proven connections idle, and do not retry a
 * request on a closed connection. Under pressure, the guard therefore closes only unproven
 * connections: an honest client proves its connection within milliseconds. If no slot is free, or
 * if few slots are free and the client's address has more than its share, an answer with
 * `Connection: close` ends a proven connection without losing a request. A client that holds all
 * slots cannot lock out other clients, and its share shrinks with each answer. A single address,
 * which all API servers may share, can use all slots while no other address needs a slot.
 */
export class ConnectionGuard {
  readonly #maxUnproven: number;
  readonly #maxProven: number;
  /** The number of proven connections above which an address is limited to its share. */
  readonly #crowded: number;
  readonly #dropped: () => void;
  readonly #unproven = new SocketsByAddress();
  readonly #proven = new SocketsByAddress();
  /** The last address with more than half of the unproven connections. */
  #crowd: string | undefined;

  /** @param dropped called for each connection that is closed under pressure */
  constructor({ maxConnections, maxUnprovenConnections }: ConnectionLimits, dropped: () => void) {
    this.#maxUnproven = maxUnprovenConnections;
    this.#maxProven = maxConnections - maxUnprovenConnections;
    this.#crowded = this.#maxProven - Math.floor(this.#maxProven / reserved);
    this.#dropped = dropped;
  }

  get size(): number {
    return this.#unproven.size + this.#proven.size;
  }

  get unproven(): number {
    return this.#unproven.size;
  }

  /** Adds a new connection, and closes older connections if there are too many. */
  admit(socket: Socket, address = socket.remoteAddress ?? ''): void {
    this.#unproven.add(socket, address);
    if (this.#isCrowd(address)) this.#crowd = address;
    socket.once('close', () => {
      this.#unproven.remove(socket);
      this.#proven.remove(socket);
    });
    while (this.#unproven.size > this.#maxUnproven) this.#drop();
  }

  isProven(socket: Socket): boolean {
    return this.#proven.has(socket);
  }

  /**
   * Marks a connection as proven. Call this for every answered review, and for every answer on a
   * proven connection.
   * @returns whether to keep the connection; otherwise the answer must close it
   */
  prove(socket: Socket): boolean {
    const isProven = this.#proven.has(socket);
    const address = (isProven ? this.#proven : this.#unproven).addressOf(socket);
    // The connection has ended.
    if (address === undefined) return true;
    const others = this.#proven.size - (isProven ? 1 : 0);
    const own = this.#proven.countOf(address) - (isProven ? 1 : 0);
    if (others < this.#crowded || (others < this.#maxProven && own < this.#share())) {
      if (isProven) return true;
      this.#unproven.remove(socket);
      this.#proven.add(socket, address);
      return true;
    }
    // Make this the newest connection, so that the client can read the answer before the close.
    this.#proven.remove(socket);
    this.#unproven.remove(socket);
    this.#unproven.add(socket, address);
    return false;
  }

  /** Closes every connection, even connections in use. */
  destroyAll(): void {
    for (const socket of [...this.#unproven.all(), ...this.#proven.all()]) socket.destroy();
  }

  /** Returns the number of proven connections that an address may have while few slots are free. */
  #share(): number {
    return Math.max(1, Math.floor(this.#crowded / this.#proven.addresses));
  }

  /** Closes the oldest unproven connection, preferably of an address that has more than half. */
  #drop(): void {
    const crowd = this.#crowd !== undefined && this.#isCrowd(this.#crowd) ? this.#crowd : undefined;
    const socket = this.#unproven.oldest(crowd);
    if (socket === undefined) return;
    this.#unproven.remove(socket);
    socket.destroy();
    this.#dropped();
  }

  #isCrowd(address: string): boolean {
    return this.#unproven.countOf(address) * 2 > this.#maxUnproven;
  }
}
