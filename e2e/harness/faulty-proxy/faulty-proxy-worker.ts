/** The faulty proxy's thread: HTTPS to the API server, with faults on the way. */
import { readFileSync } from 'node:fs';
import { Agent, createServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { Random } from '../../../scripts/template-recorder/random.ts';
import { announce, serveWorker } from '../worker/serve-worker.ts';
import { Exchange, type Upstream } from './exchange.ts';
import { describeRequest, isOfClass, type Fault, type ProxiedRequest, type RequestClass } from './fault.ts';

/** A write that the API server has answered. */
export interface PassedWrite extends ProxiedRequest {
  at: number;
  status: number;
  body: string;
}

/** A pause after a write: the API server has done it, and its client does not know yet. */
export interface Hold {
  match: RequestClass;
  /** After how many writes of the class, counted from now. */
  after: number;
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
const upstream: Upstream = {
  ...settings.upstream,
  agent: new Agent({ keepAlive: true, ca: readFileSync(settings.authorityFile) }),
};
const faults = new Map<number, Fault & { hits: number }>();
const open = new Set<Exchange>();
const writes: PassedWrite[] = [];
const holds = new Map<number, Hold & { seen: number; release: () => void; released: Promise<void> }>();
const questions = new Map<number, { match: RequestClass; answers: Map<number, (isHeld: boolean) => void> }>();
const writeVerbs = ['create', 'update', 'patch', 'delete'];
let sequence = 0;

const server = createServer(
  { cert: readFileSync(settings.certificateFile), key: readFileSync(settings.keyFile), keepAliveTimeout: 120_000 },
  (request, response) => {
    const about = describeRequest(request.method ?? 'GET', request.url ?? '/', request.headers['user-agent'] ?? '');
    const exchange = new Exchange(about, request, response);
    open.add(exchange);
    response.once('close', () => {
      open.delete(exchange);
    });
    // What fails here is the client's connection, which is the client's matter.
    run(exchange).catch(() => {
      exchange.cut();
    });
  },
);
server.requestTimeout = 0;

async function run(exchange: Exchange): Promise<void> {
  const body = await exchange.body();
  for (const fault of faults.values()) {
    if (!isOfClass(exchange.about, fault.match) || !random.chance(fault.share ?? 1)) continue;
    fault.hits++;
    const { action } = fault;
    if (action.kind === 'delay') await sleep(action.milliseconds);
    else if (action.kind === 'hang') {
      exchange.hang();
      return;
    } else if (action.kind === 'cut') {
      exchange.cut();
      return;
    } else {
      exchange.answer(action.status, action.retryAfterSeconds);
      return;
    }
  }
  const answer = await exchange.ask(upstream, body);
  if (answer === undefined) return;
  if (writeVerbs.includes(exchange.about.verb)) await passWrite(exchange, answer.statusCode ?? 0, body);
  exchange.forward(answer);
}

async function passWrite({ about }: Exchange, status: number, body: Buffer): Promise<void> {
  const write: PassedWrite = { ...about, at: Date.now(), status, body: body.toString('utf8') };
  writes.push(write);
  for (const [id, hold] of holds) {
    if (!isOfClass(about, hold.match) || status >= 300 || ++hold.seen < hold.after) continue;
    if (hold.seen === hold.after) announce('held', { id, write });
    await hold.released;
  }
  for (const [id, { match, answers }] of questions) {
    if (!isOfClass(about, match) || status >= 300) continue;
    const question = ++sequence;
    const isHeld = await new Promise<boolean>((resolve) => {
      answers.set(question, resolve);
      announce('asked', { id, question, write });
    });
    answers.delete(question);
    // Until its owner lets go, as for any other hold.
    if (isHeld) await holds.get(id)?.released;
  }
}

const listening = new Promise<void>((resolve, reject) => {
  server.once('error', reject);
  server.listen(settings.port, '127.0.0.1', resolve);
});

/** What the proxy's owner may ask for. */
export interface FaultyProxyMethods {
  listening(): Promise<void>;
  addFault(fault: Fault): number;
  /** Ends a fault; how many requests met it. Those that hang go on hanging. */
  removeFault(id: number): number;
  writes(): PassedWrite[];
  hold(id: number, hold: Hold): void;
  release(id: number): void;
  /** Asks its owner of each successful write of a class whether it is held, until one is or {@link FaultyProxyMethods.release} is called. */
  ask(id: number, match: RequestClass): void;
  decide(id: number, question: number, isHeld: boolean): void;
}

const methods: FaultyProxyMethods = {
  listening: () => listening,
  addFault(fault) {
    const id = ++sequence;
    let hits = 0;
    for (const exchange of open) {
      if (!isOfClass(exchange.about, fault.match) || exchange.about.verb !== 'watch') continue;
      if (fault.action.kind === 'hang') exchange.hang();
      else if (fault.action.kind === 'cut') exchange.cut();
      else continue;
      hits++;
    }
    faults.set(id, { ...fault, hits });
    return id;
  },
  removeFault(id) {
    const hits = faults.get(id)?.hits ?? 0;
    faults.delete(id);
    return hits;
  },
  writes: () => writes,
  hold(id, hold) {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    holds.set(id, { ...hold, seen: 0, release, released });
  },
  release(id) {
    holds.get(id)?.release();
    holds.delete(id);
    for (const answer of questions.get(id)?.answers.values() ?? []) answer(false);
    questions.delete(id);
  },
  ask(id, match) {
    methods.hold(id, { match: { client: 'nobody' }, after: Infinity });
    questions.set(id, { match, answers: new Map() });
  },
  decide(id, question, isHeld) {
    questions.get(id)?.answers.get(question)?.(isHeld);
    if (isHeld) questions.delete(id);
  },
};
serveWorker(methods);
