import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls';
import type { HostileRequest } from './materials.ts';

/** The milliseconds after which an unanswered request is abandoned. */
const patience = 30_000;
/** Shared by all connections, because creating a context takes longer than a handshake. */
const secureContext = createSecureContext();

/** Opens a connection. Ignores its errors, and does not verify the certificate, to save time. */
export function openTls(port: number, servername: string, session?: Buffer): TLSSocket {
  const options = { host: '127.0.0.1', port, servername, secureContext, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] };
  return connectTls({ ...options, ...(session && { session }) }).on('error', () => undefined);
}

/** Sends requests on one connection and returns outcomes. Reconnects if the server closes it. */
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

  async send({ bytes, plain, thenEnd, withoutBody, answers: expected = 1 }: HostileRequest): Promise<string> {
    const socket = plain ? await this.#connectPlain() : await this.#connectEncrypted();
    const answers: string[] = [];
    const state = { rest: '', keepsOpen: false };
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        socket.off('data', onData).off('close', finish);
        resolve();
      };
      const onData = (piece: Buffer): void => {
        // On a plain connection, the answer is a TLS alert, not HTTP.
        if (plain) return;
        state.rest += piece.toString('latin1');
        for (let read = readAnswer(state.rest, withoutBody); read !== undefined; read = readAnswer(state.rest, withoutBody)) {
          answers.push(read.answer);
          Object.assign(state, { rest: read.rest, keepsOpen: !read.closes && read.rest === '' });
        }
        if (expected !== 'all' && answers.length >= expected) finish();
      };
      const timer = setTimeout(() => {
        answers.push('no answer');
        finish();
      }, patience);
      socket.on('data', onData).on('close', finish);
      if (socket.destroyed) finish();
      else if (thenEnd) socket.end(bytes);
      else socket.write(bytes);
    });
    if (state.keepsOpen && !socket.destroyed && !thenEnd) this.#kept = socket;
    else socket.destroy();
    return answers.join(' then ') || 'closed';
  }

  close(): void {
    this.#kept?.destroy();
  }

  async #connectPlain(): Promise<Socket> {
    const socket = connectPlain({ host: '127.0.0.1', port: this.#port, allowHalfOpen: true }).on('error', () => undefined);
    socket.on('end', () => socket.end());
    await once(socket, 'connect');
    return socket;
  }

  /** Returns the kept connection, or else a new connection. Retries aborted handshakes. */
  async #connectEncrypted(): Promise<Socket> {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept !== undefined) return kept;
    for (let attempt = 1; ; attempt++) {
      this.opened++;
      const socket = openTls(this.#port, this.#host, this.#session).on('session', (session: Buffer) => (this.#session = session));
      try {
        await once(socket, 'secureConnect');
        return socket;
      } catch (error) {
        this.brokenOff++;
        if (attempt === 5) throw error;
      }
    }
  }
}

/** Reads one answer from the start of a text. Returns undefined while the answer is incomplete. */
function readAnswer(text: string, withoutBody = false) {
  const headEnd = text.indexOf('\r\n\r\n') + 4;
  if (headEnd < 4) return undefined;
  const head = text.slice(0, headEnd);
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  if (status === undefined) return { answer: 'not HTTP', rest: '', closes: true };
  // Node itself answers some requests, with an empty chunk.
  const emptyChunk = /\r\ntransfer-encoding: chunked/i.test(head) ? '0\r\n\r\n'.length : 0;
  const end = headEnd + (withoutBody ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? emptyChunk));
  if (text.length < end) return undefined;
  const answer = status === '200' ? `200 ${verdict(text.slice(headEnd, end))}` : status;
  return { answer, rest: text.slice(end), closes: /\r\nconnection: close/i.test(head) };
}

function verdict(text: string): string {
  let review: { response?: { allowed?: unknown; patch?: unknown; status?: { reason?: unknown; message?: unknown } } };
  try {
    review = JSON.parse(text) as typeof review;
  } catch {
    return 'not JSON';
  }
  const { allowed, patch, status: { reason, message } = {} } = review.response ?? {};
  if (allowed === true) return patch === undefined ? 'allowed' : 'patched';
  if (allowed !== false) return 'no verdict';
  // An internal error is a defect, and so is a refusal without a message.
  if (reason === 'Internal') return `internal error: ${String(message)}`;
  return typeof message === 'string' && message !== '' ? 'refused' : 'refused without a reason';
}
