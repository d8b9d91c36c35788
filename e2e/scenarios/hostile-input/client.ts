import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { AnswerReader } from './answer-reader.ts';
import type { HostileRequest, Outcome } from './hostile-class.ts';

/** Milliseconds after which a request that nobody answers is given up. */
const patience = 30_000;

/** One for all: making a context takes longer than a handshake. */
const secureContext = createSecureContext();

/** One client after the other on one connection at a time: sends bytes and says what came back. Keeps the connection while the server does. */
export class HostileClient {
  readonly #port: number;
  readonly #host: string;
  #session: Buffer | undefined;
  #kept: Socket | undefined;
  /** TLS connections that were opened. */
  opened = 0;
  /** Handshakes that the server broke off: it makes room by closing connections on which nothing was answered yet. */
  brokenOff = 0;

  constructor(port: number, host: string) {
    this.#port = port;
    this.#host = host;
  }

  async send(request: HostileRequest): Promise<Outcome> {
    const socket = request.transport === 'plain' ? await this.#connectPlain() : await this.#connectEncrypted();
    const reader = new AnswerReader(request.withoutBody === true);
    const wanted = request.answers === 'all' ? Infinity : (request.answers ?? 1);
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        socket.off('data', onData).off('close', finish);
        resolve();
      };
      const onData = (piece: Buffer): void => {
        // What answers something that is not HTTP is no HTTP either: an alert of TLS.
        if (request.transport === 'plain') return;
        reader.push(piece);
        if (reader.answers.length >= wanted) finish();
      };
      const timer = setTimeout(() => {
        reader.answers.push('no answer');
        finish();
      }, patience);
      socket.on('data', onData).on('close', finish);
      if (socket.destroyed) finish();
      else if (request.thenEnd) socket.end(request.bytes);
      else socket.write(request.bytes);
    });
    if (reader.keepsOpen && !socket.destroyed && request.thenEnd !== true) this.#kept = socket;
    else socket.destroy();
    return reader.answers.length === 0 ? 'closed' : reader.answers.join(' then ');
  }

  close(): void {
    this.#kept?.destroy();
  }

  /** The connection that the server has kept open, else a new one. */
  async #connectEncrypted(): Promise<Socket> {
    const kept = this.#kept;
    this.#kept = undefined;
    return kept ?? this.#connectAgain();
  }

  #connectPlain(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connectPlain({ host: '127.0.0.1', port: this.#port, allowHalfOpen: true });
      // The server may close while there is still something to send: that is an outcome, no fault.
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject).on('error', () => undefined);
        socket.on('end', () => socket.end());
        resolve(socket);
      });
    });
  }

  /** As a client under pressure does. */
  async #connectAgain(): Promise<Socket> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#connect();
      } catch (error) {
        this.brokenOff++;
        if (attempt === 5) throw error;
      }
    }
  }

  #connect(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({
        host: '127.0.0.1',
        port: this.#port,
        servername: this.#host,
        secureContext,
        // The healthy clients check who answers; here it would only cost.
        rejectUnauthorized: false,
        ALPNProtocols: ['http/1.1'],
        ...(this.#session === undefined ? {} : { session: this.#session }),
      });
      this.opened++;
      socket.on('session', (session) => {
        this.#session = session;
      });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        socket.off('error', reject).on('error', () => undefined);
        resolve(socket);
      });
    });
  }
}
