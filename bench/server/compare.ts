import { applyLoad, atFraction } from './load.ts';
import type { ChildServer } from './child-server.ts';
import type { ReviewMaker } from './pod-reviews.ts';

export interface Scenario {
  readonly name: string;
  readonly reviews: ReviewMaker;
  /** The number of requests for each server and round. The warm-up round is not counted. */
  readonly requests: number;
}

export interface Comparison {
  readonly name: string;
  readonly bodyBytes: number;
  readonly answerBytes: number;
  /** CPU milliseconds per request. */
  readonly bare: number;
  readonly ours: number;
  /** ours / bare: the cost of injection as a multiple of a minimal webhook's cost. */
  readonly ratio: number;
  /** Latencies in milliseconds. `p99Ratio` is `p99` divided by the p99 of the bare server. */
  readonly p50: number;
  readonly p99: number;
  readonly p99Ratio: number;
  /** The number of decisions that our server reused from its cache. */
  readonly reused: number;
  readonly failed: number;
}

const rounds = 6;
const path = '/revisions/default/0a1b2c3d/inject?timeout=10s';

/** Sends the same load to both servers in turns, so that other work affects both servers alike. */
export async function compareServers(
  bare: ChildServer,
  ours: ChildServer,
  scenario: Scenario,
  connections: number,
): Promise<Comparison> {
  const { name, reviews, requests } = scenario;
  let sent = 0;
  const load = (server: ChildServer, answerBytes?: number): ReturnType<typeof applyLoad> => {
    const first = (sent += requests);
    const size = answerBytes === undefined ? {} : { answerBytes };
    return applyLoad({
      port: server.port,
      path,
      connections,
      requests,
      body: (index) => reviews(first + index),
      ...size,
    });
  };
  const { answerBytes } = await load(ours);
  await load(bare, answerBytes);
  const { reused: reusedBefore } = await ours.ask();
  const cpu = { bare: 0, ours: 0 };
  const latencies: Record<'bare' | 'ours', number[]> = { bare: [], ours: [] };
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [kind, server, size] of [
      ['bare', bare, answerBytes],
      ['ours', ours, undefined],
    ] as const) {
      const before = server.usage().cpuMilliseconds;
      const result = await load(server, size);
      cpu[kind] += server.usage().cpuMilliseconds - before;
      failed += result.failed;
      latencies[kind].push(...result.latencies);
    }
  }
  const at = (kind: 'bare' | 'ours', part: number): number =>
    atFraction(Float64Array.from(latencies[kind]).sort(), part);
  const count = rounds * requests;
  return {
    name,
    bodyBytes: reviews(0).length,
    answerBytes,
    bare: cpu.bare / count,
    ours: cpu.ours / count,
    ratio: cpu.ours / cpu.bare,
    p50: at('ours', 0.5),
    p99: at('ours', 0.99),
    p99Ratio: at('ours', 0.99) / at('bare', 0.99),
    reused: (await ours.ask()).reused - reusedBefore,
    failed,
  };
}
