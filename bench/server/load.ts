import { Agent, request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerBytesHeader } from './benchmarked.ts';

export interface LoadSettings {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly requests: number;
  /** Requests begin at random times, so many a second on average, whether or not earlier ones are answered; without it each connection sends its next one when the last is answered. */
  readonly perSecond?: number;
  /** The body of the n-th request. */
  body(index: number): Buffer;
  /** What the bare server is to answer, in bytes; undefined for servers that know for themselves. */
  readonly answerBytes?: number;
}

export interface LoadResult {
  readonly answered: number;
  readonly failed: number;
  readonly answerBytes: number;
  /** In milliseconds, sorted. */
  readonly latencies: readonly number[];
  readonly lastBody: string;
}

/** Sends requests over so many connections. */
export async function applyLoad(settings: LoadSettings): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: settings.connections, rejectUnauthorized: false });
  const latencies: number[] = [];
  let next = 0;
  let failed = 0;
  let answerBytes = 0;
  let lastBody = '';
  async function sendNext(): Promise<void> {
    const started = performance.now();
    const { status, body } = await send(agent, settings, next++);
    latencies.push(performance.now() - started);
    if (status !== 200) failed++;
    answerBytes = body.length;
    lastBody = body;
  }
  async function connection(): Promise<void> {
    while (next < settings.requests) await sendNext();
  }
  if (settings.perSecond === undefined) await Promise.all(Array.from({ length: settings.connections }, connection));
  else await atRandomTimes(settings.requests, settings.perSecond, sendNext);
  agent.destroy();
  latencies.sort((a, b) => a - b);
  return { answered: latencies.length, failed, answerBytes, latencies, lastBody };
}

/** The value below which a fraction of sorted values lies. */
export function atFraction(sorted: readonly number[], fraction: number): number {
  return sorted[Math.floor(sorted.length * fraction)] ?? 0;
}

/** Independent arrivals: the time between two is exponentially distributed. */
async function atRandomTimes(count: number, perSecond: number, begin: () => Promise<void>): Promise<void> {
  const begun: Promise<void>[] = [];
  let due = performance.now();
  while (begun.length < count) {
    due -= (Math.log(1 - Math.random()) / perSecond) * 1000;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    begun.push(begin());
  }
  await Promise.all(begun);
}

function send(agent: Agent, settings: LoadSettings, index: number): Promise<{ status: number; body: string }> {
  const body = settings.body(index);
  const headers: Record<string, string | number> = {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
  };
  if (settings.answerBytes !== undefined) headers[answerBytesHeader] = settings.answerBytes;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: settings.port, path: settings.path, method: 'POST', headers, agent };
    const request = httpsRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: text });
      });
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
