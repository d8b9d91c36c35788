import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Agent } from 'node:https';
import { request as send } from 'node:https';
import type { ProxiedRequest } from './fault.ts';

/** Headers that are about one connection (RFC 9110, section 7.6.1). */
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade'];

/** Where requests are passed on to. */
export interface Upstream {
  host: string;
  port: number;
  agent: Agent;
}

/** One request on its way through the proxy. */
export class Exchange {
  readonly about: ProxiedRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  #answer: IncomingMessage | undefined;
  #isHung = false;

  constructor(about: ProxiedRequest, request: IncomingMessage, response: ServerResponse) {
    this.about = about;
    this.request = request;
    this.response = response;
  }

  /** Reads the whole request: bodies are small, and those of writes are kept. */
  async body(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  /** Asks the API server; resolves when its answer begins. What breaks there breaks here. */
  ask(upstream: Upstream, body: Buffer): Promise<IncomingMessage | undefined> {
    const { method = 'GET', url = '/', headers } = this.request;
    const { host, port, agent } = upstream;
    return new Promise((resolve) => {
      const outgoing = send({ host, port, agent, method, path: url, headers: { ...headers, host: `${host}:${port}` } });
      outgoing.once('response', (answer) => {
        this.#answer = answer;
        answer.once('error', () => {
          this.cut();
        });
        resolve(answer);
      });
      outgoing.once('error', () => {
        this.cut();
        resolve(undefined);
      });
      // A client that has left wants nothing any more.
      this.response.once('close', () => {
        if (!this.response.writableFinished) outgoing.destroy();
      });
      outgoing.end(body);
    });
  }

  /** Passes an answer on as it comes. */
  forward(answer: IncomingMessage): void {
    if (this.#isHung || this.response.destroyed) return;
    const headers = Object.entries(answer.headers).filter(([name]) => !hopByHop.includes(name));
    this.response.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers));
    // A watch that nothing happens on is open all the same.
    this.response.flushHeaders();
    answer.pipe(this.response);
  }

  answer(status: number, retryAfterSeconds: number | undefined): void {
    const reason = { 403: 'Forbidden', 429: 'TooManyRequests', 500: 'InternalError' }[status] ?? 'Unknown';
    const object = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason };
    const text = JSON.stringify({ ...object, message: `the faulty proxy says ${reason}` });
    const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    this.response.writeHead(status, { 'content-type': 'application/json', ...retry });
    this.response.end(text);
  }

  /** From now on nothing comes, and nothing closes. */
  hang(): void {
    this.#isHung = true;
    this.#answer?.unpipe(this.response);
    this.#answer?.resume();
  }

  /** Resets the client's connection; on a half-open path it never hears of it. */
  cut(): void {
    if (!this.#isHung) this.request.socket.destroy();
  }
}
