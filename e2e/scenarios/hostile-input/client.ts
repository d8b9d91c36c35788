import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { HostileRequest, Outcome } from './materials.ts';

/** The milliseconds after which an unanswered request is abandoned. */
const patience = 30_000;

/** Shared by all connections, because creating a context takes longer than a handshake. */
const secureContext = createSecureContext();

/** Sends requests on one connection and reports outcomes. Reconnects if the server closes it. */
export class HostileClient {
  readonly #port: number;
  readonly #host: string;
  #session: Buffer | undefined;
  #kept: Socket | undefined;
  opened = 0;
  /** The number of handshakes that the server aborted, to make room for other connections. */
  brokenOff = 0;

  constructor(port: number, host: string) {
    this.#port = port;
    this.#host = host;
  }

  async send(request: HostileRequest): Promise<Outcome> {
    const socket = request.transport === 'plain' ? await this.#connectPlain() : await this.#connectEncrypted();
    const reader = new AnswerReader(request.withoutBody === true);
    const expectedAnswers = request.answers === 'all' ? Infinity : (request.answers ?? 1);
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        socket.off('data', onData).off('close', finish);
        resolve();
      };
      const onData = (piece: Buffer): void => {
        // On a plain connection, the answer is a TLS alert, not HTTP.
        if (request.transport === 'plain') return;
        reader.push(piece);
        if (reader.answers.length >= expectedAnswers) finish();
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

  async #connectPlain(): Promise<Socket> {
    const socket = connectPlain({ host: '127.0.0.1', port: this.#port, allowHalfOpen: true });
    socket.on('end', () => socket.end());
    return await established(socket, 'connect');
  }

  /** Returns the kept connection, or else a new connection. Retries aborted handshakes. */
  async #connectEncrypted(): Promise<Socket> {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept !== undefined) return kept;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#connect();
      } catch (error) {
        this.brokenOff++;
        if (attempt === 5) throw error;
      }
    }
  }

  async #connect(): Promise<Socket> {
    this.opened++;
    const socket = connectTls({
      host: '127.0.0.1',
      port: this.#port,
      servername: this.#host,
      secureContext,
      // Verification of the certificate would only cost time. The healthy clients verify it.
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    return await established(socket, 'secureConnect');
  }
}

/** Waits until a socket is connected. Ignores later errors, because they are outcomes. */
async function established(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  socket.on('error', () => undefined);
  await once(socket, event);
  return socket;
}

/** Parses HTTP responses from the bytes of a connection. */
class AnswerReader {
  readonly answers: Outcome[] = [];
  /** Whether the connection may be reused after the last response. */
  keepsOpen = false;
  readonly #withoutBody: boolean;
  #text = '';

  constructor(withoutBody: boolean) {
    this.#withoutBody = withoutBody;
  }

  push(piece: Buffer): void {
    this.#text += piece.toString('latin1');
    while (this.#readOne());
  }

  #readOne(): boolean {
    const end = this.#text.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const head = this.#text.slice(0, end);
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
    if (status === undefined) {
      this.answers.push('not HTTP');
      this.#text = '';
      return false;
    }
    const rest = this.#text.slice(end + 4);
    const length = this.#withoutBody ? 0 : bodyLength(head, rest);
    if (length === undefined || rest.length < length) return false;
    this.#text = rest.slice(length);
    this.keepsOpen = !/\r\nconnection: close/i.test(head) && this.#text === '';
    this.answers.push(status === '200' ? `200 ${verdict(rest.slice(0, length))}` : status);
    return true;
  }
}

/** Returns the length of the encoded body; undefined while the body is incomplete. */
function bodyLength(head: string, rest: string): number | undefined {
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (declared !== undefined) return Number(declared);
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return 0;
  const end = rest.indexOf('0\r\n\r\n');
  return end === -1 ? undefined : end + 5;
}

function verdict(text: string): string {
  let response: { allowed?: unknown; patch?: unknown; status?: { reason?: unknown; message?: unknown } } | undefined;
  try {
    response = (JSON.parse(text) as { response?: typeof response }).response;
  } catch {
    return 'not JSON';
  }
  if (response?.allowed === true) return response.patch === undefined ? 'allowed' : 'patched';
  if (response?.allowed !== false) return 'no verdict';
  const { reason, message } = response.status ?? {};
  // An internal error is a defect, and so is a refusal without a message.
  if (reason === 'Internal') return `internal error: ${String(message)}`;
  return typeof message === 'string' && message !== '' ? 'refused' : 'refused without a reason';
}
