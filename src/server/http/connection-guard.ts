import type { Socket } from 'node:net';

/** Connections in the order in which they came, all of them and those of one client address. */
class SocketsByAddress {
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

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Of these, connections on which no review was answered; the others are for those that are kept. */
  readonly maxUnprovenConnections: number;
}

/** One of so many of the places for proven connections is held free for addresses that have few. */
const reserved = 8;

/**
 * Bounds the number of connections without touching those that work. A connection is *proven* once a review on it was answered; the API server keeps such
 * connections idle, and never retries a request that meets a closed one. So pressure closes unproven connections only, the oldest first: an honest one is
 * proven within milliseconds. Proven ones are bounded by what their answers say: where no place is left, or few and the client's address has more than its
 * share of them, an answer is the last on its connection (`Connection: close`), which loses nothing. So whoever holds all places keeps nobody out: others are
 * answered, and the share of who holds too many shrinks with each answer that it gets.
 *
 * API servers may all come from one address: its share is all places while nobody else wants any.
 */
export class ConnectionGuard {
  readonly #maxUnproven: number;
  readonly #maxProven: number;
  /** From so many proven connections on, each address is held to its share. */
  readonly #crowded: number;
  readonly #dropped: () => void;
  readonly #unproven = new SocketsByAddress();
  readonly #proven = new SocketsByAddress();
  /** The address that had more than half of the unproven connections last. */
  #crowd: string | undefined;

  /** @param dropped told of each connection that is closed under pressure */
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

  /** Takes note of a new connection, and makes room for it. */
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
   * It is being answered: a review, or anything where it is proven already.
   * @returns whether the connection is kept; otherwise the answer has to say that it is the last one
   */
  prove(socket: Socket): boolean {
    const isProven = this.#proven.has(socket);
    const address = (isProven ? this.#proven : this.#unproven).addressOf(socket);
    // It has ended meanwhile.
    if (address === undefined) return true;
    const others = this.#proven.size - (isProven ? 1 : 0);
    const own = this.#proven.countOf(address) - (isProven ? 1 : 0);
    if (others < this.#crowded || (others < this.#maxProven && own < this.#share())) {
      if (isProven) return true;
      this.#unproven.remove(socket);
      this.#proven.add(socket, address);
      return true;
    }
    // As young as can be: should it be closed to make room, its client has had time for its answer while as many others came as there is room for.
    this.#proven.remove(socket);
    this.#unproven.remove(socket);
    this.#unproven.add(socket, address);
    return false;
  }

  /** Ends every connection, the working ones too. */
  destroyAll(): void {
    for (const socket of [...this.#unproven.all(), ...this.#proven.all()]) socket.destroy();
  }

  /** How many proven connections an address may have where places are few. */
  #share(): number {
    return Math.max(1, Math.floor(this.#crowded / this.#proven.addresses));
  }

  /** Who alone has more than half of the unproven connections makes room itself; otherwise the oldest of all does. */
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
