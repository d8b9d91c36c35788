import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { answerBytesHeader } from './benchmarked.ts';
import type { Load, LoadReport } from './load-thread.ts';
import { monotonic } from './monotonic.ts';
import type { Pace } from './pacer-thread.ts';

export interface LoadSettings {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly requests: number;
  /** Requests are due at random times, so many a second on average, whether or not earlier ones are answered; without it each connection sends its next one when the last is answered. */
  readonly perSecond?: number;
  /** The body of the n-th request. */
  readonly body: (index: number) => Buffer;
  /** What the bare server is to answer, in bytes; undefined for servers that know for themselves. */
  readonly answerBytes?: number;
}

export interface LoadResult {
  readonly failed: number;
  /** Of the last answer. */
  readonly answerBytes: number;
  /** In milliseconds, sorted: with a pace from when a request was due, so that whatever this generator is late by counts too. */
  readonly latencies: readonly number[];
  /** In milliseconds, sorted: how late the generator itself was; empty without a pace. */
  readonly lateness: readonly number[];
}

/** Two threads for all loads of this process, one that sends and one that says when. They do not keep the process alive. */
let threads: { readonly sender: Worker; readonly pacer: Worker } | undefined;

function startThreads(): { readonly sender: Worker; readonly pacer: Worker } {
  const start = (file: string): Worker => {
    const worker = new Worker(new URL(file, import.meta.url));
    worker.unref();
    return worker;
  };
  return { sender: start('load-thread.ts'), pacer: start('pacer-thread.ts') };
}

/**
 * Sends requests over so many connections. All of them are made before the first is sent, by a thread that does nothing else: what is measured is the server.
 * @throws when there is no server
 */
export async function applyLoad(settings: LoadSettings): Promise<LoadResult> {
  threads ??= startThreads();
  const { sender, pacer } = threads;
  const { port, connections, requests, perSecond } = settings;
  const load: Load = { port, connections, ...prepare(settings) };
  if (perSecond === undefined) sender.postMessage(load);
  else {
    const due = dueTimes(requests, perSecond);
    const { port1, port2 } = new MessageChannel();
    sender.postMessage({ ...load, due, wake: port1 } satisfies Load, [port1]);
    pacer.postMessage({ due, wake: port2 } satisfies Pace, [port2]);
  }
  sender.ref();
  const [report] = (await once(sender, 'message')) as [LoadReport];
  sender.unref();
  if (report.problem !== undefined) throw new Error(`no server answers on port ${port}: ${report.problem}`);
  const { failed, answerBytes, latencies, lateness } = report;
  return { failed, answerBytes, latencies: [...latencies.sort()], lateness: [...lateness.sort()] };
}

/** The value below which a fraction of sorted values lies. */
export function atFraction(sorted: ArrayLike<number>, fraction: number): number {
  return sorted[Math.floor(sorted.length * fraction)] ?? 0;
}

/** Every request as it goes over the wire. */
function prepare({ port, path, requests, body, answerBytes }: LoadSettings): Pick<Load, 'bytes' | 'starts'> {
  const more = answerBytes === undefined ? '' : `${answerBytesHeader}: ${answerBytes}\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${more}`;
  const starts = new Float64Array(new SharedArrayBuffer(8 * (requests + 1)));
  const pieces: Buffer[] = [];
  let length = 0;
  for (let index = 0; index < requests; index++) {
    const content = body(index);
    const piece = Buffer.concat([Buffer.from(`${head}Content-Length: ${content.length}\r\n\r\n`), content]);
    pieces.push(piece);
    length += piece.length;
    starts[index + 1] = length;
  }
  const bytes = new SharedArrayBuffer(length);
  const view = new Uint8Array(bytes);
  pieces.forEach((piece, index) => {
    view.set(piece, starts[index]);
  });
  return { bytes, starts };
}

/** Milliseconds until the first request is due: connections are opened meanwhile. */
const leadTime = 200;

/** Independent arrivals: the time between two is exponentially distributed. The same times in every run, so that runs can be compared. */
function dueTimes(count: number, perSecond: number): Float64Array<SharedArrayBuffer> {
  const due = new Float64Array(new SharedArrayBuffer(8 * count));
  const random = randomNumbers(20_26);
  let at = monotonic() + leadTime;
  for (let index = 0; index < count; index++) {
    at -= (Math.log(1 - random()) / perSecond) * 1000;
    due[index] = at;
  }
  return due;
}

/** Numbers from 0 to 1 (mulberry32, by Tommy Ettinger, public domain). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
