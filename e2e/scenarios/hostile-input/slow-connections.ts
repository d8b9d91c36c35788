import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import { head } from './materials.ts';
import type { HostileTarget } from './hostile-class.ts';

/** Milliseconds from one byte to the next: the body would take most of a day. */
const drip = 5000;
const bodyBytes = 60_000;
/** Milliseconds until a connection that was closed comes back: sooner, and the handshakes would be the attack. */
const pause = 5000;

/** Connections that begin a review and then send it byte by byte; they come back when they are closed. */
export class SlowConnections {
  readonly #port: number;
  readonly #target: HostileTarget;
  readonly #secureContext = createSecureContext();
  readonly #sockets = new Set<TLSSocket>();
  /** Connections that were closed without an answer, to make room for others. */
  evicted = 0;
  #stopped = false;

  constructor(port: number, target: HostileTarget, count: number) {
    this.#port = port;
    this.#target = target;
    for (let index = 0; index < count; index++) this.#open();
  }

  /** Connections that have begun a review and are still there. */
  get open(): number {
    return [...this.#sockets].filter((socket) => !socket.connecting && !socket.destroyed).length;
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(): void {
    if (this.#stopped) return;
    const socket = connect({
      host: '127.0.0.1',
      port: this.#port,
      servername: this.#target.host,
      secureContext: this.#secureContext,
      rejectUnauthorized: false,
    });
    this.#sockets.add(socket);
    const beginning = head(this.#target, { path: this.#target.path, headers: [`Content-Length: ${bodyBytes}`] });
    socket.on('secureConnect', () => socket.write(`${beginning}\r\n{`));
    const timer = setInterval(() => socket.write('"'), drip);
    let answered = false;
    socket.on('data', () => {
      answered = true;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(timer);
      this.#sockets.delete(socket);
      if (!answered && !this.#stopped) this.evicted++;
      setTimeout(() => {
        this.#open();
      }, pause);
    });
  }
}
