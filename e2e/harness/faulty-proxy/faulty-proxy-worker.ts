/** The faulty proxy's process, which forwards HTTPS requests to the API server or disturbs them. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as send } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../../scripts/template-recorder/random.ts';
import { announce, serveWorker, workerData } from '../worker/serve-worker.ts';
import { describeRequest, isOfClass, type Fault, type ProxiedRequest, type RequestClass } from './fault.ts';

/** Headers that concern a single connection (RFC 9110, section 7.6.1). */
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade'];

class Exchange {
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

  /** Forwards the request. Resolves when the response begins. An error cuts the connection. */
  ask(body: Buffer): Promise<IncomingMessage | undefined> {
    const { method = 'GET', url = '/', headers } = this.request;
    const { host, port } = settings.upstream;
    return new Promise((resolve) => {
      const outgoing = send({ host, port, agent, method, path: url, headers: { ...headers, host: `${host}:${port}` } });
      outgoing.once('response', (answer) => {
        this.#answer = answer;
        answer.once('error', () => this.cut());
        resolve(answer);
      });
      outgoing.once('error', () => {
        this.cut();
        resolve(undefined);
      });
      // The client has disconnected, so cancel the upstream request. The API server may still do a
      // write that is cancelled, so writes continue and are recorded.
      this.response.once('close', () => {
        if (!this.response.writableFinished && !writeVerbs.includes(this.about.verb)) outgoing.destroy();
      });
      outgoing.end(body);
    });
  }

  forward(answer: IncomingMessage): void {
    if (this.#isHung || this.response.destroyed) {
      answer.resume();
      return;
    }
    const headers = Object.entries(answer.headers).filter(([name]) => !hopByHop.includes(name));
    this.response.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers));
    // Send headers immediately, so that a watch without events counts as open.
    this.response.flushHeaders();
    answer.pipe(this.response);
  }

  answer(status: number, retryAfterSeconds: number | undefined): void {
    const reason = { 403: 'Forbidden', 429: 'TooManyRequests', 500: 'InternalError' }[status] ?? 'Unknown';
    const object = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason };
    const text = JSON.stringify({ ...object, message: `the faulty proxy answers ${reason}` });
    const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    this.response.writeHead(status, { 'content-type': 'application/json', ...retry });
    this.response.end(text);
  }

  /** Stops forwarding, but keeps the connection open. */
  hang(): void {
    this.#isHung = true;
    this.#answer?.unpipe(this.response);
    this.#answer?.resume();
  }

  /** Resets the client's connection. A hung (half-open) connection delivers no reset. */
  cut(): void {
    if (!this.#isHung) this.request.socket.destroy();
  }
}

export interface PassedWrite extends ProxiedRequest {
  at: number;
  status: number;
  body: string;
}

export interface ProxySettings {
  port: number;
  upstream: { host: string; port: number };
  certificateFile: string;
  keyFile: string;
  authorityFile: string;
  seed: number;
}

const settings = workerData as ProxySettings;
const random = new Random(settings.seed);
const agent = new Agent({ keepAlive: true, ca: readFileSync(settings.authorityFile) });
const faults = new Map<number, Fault & { hits: number }>();
const open = new Set<Exchange>();
const writes: PassedWrite[] = [];
/** The responses that are held back. */
const holds = new Map<number, { release: () => void; released: Promise<void> }>();
const questions = new Map<number, { match: RequestClass; answers: Map<number, (isHeld: boolean) => void> }>();
const writeVerbs = ['create', 'update', 'patch', 'delete'];
let sequence = 0;

const server = createServer(
  { cert: readFileSync(settings.certificateFile), key: readFileSync(settings.keyFile), keepAliveTimeout: 120_000 },
  (request, response) => {
    const about = describeRequest(request.method ?? 'GET', request.url ?? '/', request.headers['user-agent'] ?? '');
    const exchange = new Exchange(about, request, response);
    open.add(exchange);
    response.once('close', () => open.delete(exchange));
    // Errors here come from the client's connection, so close the connection.
    run(exchange).catch(() => exchange.cut());
  },
);
server.requestTimeout = 0;

async function run(exchange: Exchange): Promise<void> {
  // Read the whole body. Bodies are small, and bodies of writes are recorded.
  const body = await buffer(exchange.request);
  for (const fault of faults.values()) {
    if (!isOfClass(exchange.about, fault.match) || !random.chance(fault.share ?? 1)) continue;
    fault.hits++;
    const { action } = fault;
    if (action.kind === 'delay') {
      await sleep(action.milliseconds);
      continue;
    }
    if (action.kind === 'answer') exchange.answer(action.status, action.retryAfterSeconds);
    else exchange[action.kind]();
    return;
  }
  const answer = await exchange.ask(body);
  if (answer === undefined) return;
  if (writeVerbs.includes(exchange.about.verb)) await passWrite(exchange, answer.statusCode ?? 0, body);
  exchange.forward(answer);
}

async function passWrite({ about }: Exchange, status: number, body: Buffer): Promise<void> {
  const write: PassedWrite = { ...about, at: Date.now(), status, body: body.toString('utf8') };
  writes.push(write);
  // Not those that begin while the response is held: the write precedes them.
  for (const [id, { match, answers }] of [...questions]) {
    if (!isOfClass(about, match) || status >= 300) continue;
    const question = ++sequence;
    const isHeld = await new Promise<boolean>((resolve) => {
      answers.set(question, resolve);
      announce('asked', { id, question, write });
    });
    answers.delete(question);
    // Wait until the owner releases the hold.
    if (isHeld) await holds.get(id)?.released;
  }
}

const listening = once(server.listen(settings.port, '127.0.0.1'), 'listening');

export type FaultyProxyMethods = typeof methods;

const methods = {
  listening: () => listening,
  addFault(fault: Fault): number {
    const id = ++sequence;
    let hits = 0;
    for (const exchange of open) {
      if (!isOfClass(exchange.about, fault.match) || exchange.about.verb !== 'watch') continue;
      if (fault.action.kind !== 'hang' && fault.action.kind !== 'cut') continue;
      exchange[fault.action.kind]();
      hits++;
    }
    faults.set(id, { ...fault, hits });
    return id;
  },
  /** Ends a fault for new requests. Returns how many requests the fault affected. */
  removeFault(id: number): number {
    const hits = faults.get(id)?.hits ?? 0;
    faults.delete(id);
    return hits;
  },
  writes: () => writes,
  release(id: number): void {
    holds.get(id)?.release();
    holds.delete(id);
    for (const answer of questions.get(id)?.answers.values() ?? []) answer(false);
    questions.delete(id);
  },
  /** Asks the owner about each matching write, until the owner holds a write or calls `release`. */
  ask(id: number, match: RequestClass): void {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    holds.set(id, { release, released });
    questions.set(id, { match, answers: new Map() });
  },
  decide(id: number, question: number, isHeld: boolean): void {
    questions.get(id)?.answers.get(question)?.(isHeld);
    if (isHeld) questions.delete(id);
  },
};
serveWorker(methods);
