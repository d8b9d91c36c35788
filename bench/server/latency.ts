import type { Figures } from '../report.ts';
import type { ChildServer } from './child-server.ts';
import { describeCollections } from './collections.ts';
import { applyLoad, atFraction, type LoadResult } from './load.ts';
import type { ReviewMaker } from './pod-reviews.ts';

const path = '/revisions/default/0a1b2c3d/inject?timeout=10s';
const requests = 3000;
/** The load as a fraction of one core's capacity. */
const share = 0.7;
const connections = 8;

/**
 * Measures the latency of new pods, sequentially on one connection, and at random times at 70 % of
 * a core. The same load on the bare server shows the influence of load generator and machine.
 */
export async function measureLatency(bare: ChildServer, ours: ChildServer, reviews: ReviewMaker): Promise<Figures> {
  let sent = 1_000_000;
  const load = (
    server: ChildServer,
    count: number,
    settings: { connections: number; perSecond?: number },
    answerBytes?: number,
  ) => {
    const first = (sent += count);
    return applyLoad({
      port: server.port,
      path,
      requests: count,
      body: (index) => reviews(first + index),
      ...settings,
      ...(answerBytes === undefined ? {} : { answerBytes }),
    });
  };
  const { answerBytes } = await load(ours, requests, { connections: 1 });
  await load(bare, requests, { connections: 1 }, answerBytes);
  const before = ours.usage();
  const single = await load(ours, requests, { connections: 1 });
  const cpuMilliseconds = (ours.usage().cpuMilliseconds - before.cpuMilliseconds) / requests;
  const perSecond = Math.round((share * 1000) / cpuMilliseconds);
  const pace = { connections, perSecond };
  await load(ours, requests / 10, pace);
  await ours.ask();
  const waited = ours.usage().waitedMilliseconds;
  const paced = await load(ours, requests, pace);
  const waitedMilliseconds = ours.usage().waitedMilliseconds - waited;
  const { collections } = await ours.ask();
  const bareSingle = await load(bare, requests, { connections: 1 }, answerBytes);
  const barePaced = await load(bare, requests, pace, answerBytes);
  console.log(`new pods on one connection: ours ${shown(single)}, bare ${shown(bareSingle)}`);
  console.log(
    `${perSecond} a second at random times (${100 * share} % of a core): ours ${shown(paced)}, bare ${shown(barePaced)} | ` +
      `generator late by ${atFraction(paced.lateness, 0.99).toFixed(2)} ms at p99 | ` +
      `collections: ${describeCollections(collections)} | waited ${waitedMilliseconds.toFixed(0)} ms for a core`,
  );
  return {
    cpuMilliseconds,
    oneConnection: figuresOf(single),
    oneConnectionBare: figuresOf(bareSingle),
    requestsPerSecond: perSecond,
    paced: figuresOf(paced),
    pacedBare: figuresOf(barePaced),
    collections,
    waitedMilliseconds,
  };
}

function shown({ latencies, failed }: LoadResult): string {
  const [half, most] = [atFraction(latencies, 0.5), atFraction(latencies, 0.99)].map((value) => value.toFixed(2));
  return `p50 ${half} ms, p99 ${most} ms${failed === 0 ? '' : `, ${failed} failed`}`;
}

export function figuresOf({ latencies, lateness, failed }: LoadResult): Figures {
  return {
    p50Milliseconds: atFraction(latencies, 0.5),
    p99Milliseconds: atFraction(latencies, 0.99),
    p999Milliseconds: atFraction(latencies, 0.999),
    ...(lateness.length === 0 ? {} : { generatorLateP99Milliseconds: atFraction(lateness, 0.99) }),
    failed,
  };
}
