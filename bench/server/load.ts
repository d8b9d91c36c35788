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
  /** The mean rate of requests. Undefined to send the next request after each answer. */
  readonly perSecond?: number;
  /** Returns the body of the n-th request. */
  readonly body: (index: number) => Buffer;
  /** The size of the bare server's answers, in bytes; undefined for other servers. */
  readonly answerBytes?: number;
}

export interface LoadResult {
  readonly failed: number;
  /** The size of the last answer's body. */
  readonly answerBytes: number;
  /** The sorted latencies in milliseconds. With `perSecond`, each starts at the due time. */
  readonly latencies: readonly number[];
  /** The sorted delays of the load generator in milliseconds; empty without `perSecond`. */
  readonly lateness: readonly number[];
}

/** The sender and pacer threads for all loads. They do not keep the process alive. */
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
 * Prepares all requests, and then sends them from a dedicated thread, to measure only the server.
 * @throws Error if no server answers
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

/** Returns the value below which the given fraction of sorted values lies. */
export function atFraction(sorted: ArrayLike<number>, fraction: number): number {
  return sorted[Math.floor(sorted.length * fraction)] ?? 0;
}

/** Builds all requests in wire format. */
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

/** The milliseconds before the first request is due, for opening the connections. */
const leadTime = 200;

/** Returns due times with exponentially distributed intervals, from a fixed seed. */
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

/** Returns a source of numbers from 0 to 1 (mulberry32, by Tommy Ettinger, public domain). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
