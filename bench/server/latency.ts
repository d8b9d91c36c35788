import type { Figures } from '../report.ts';
import type { ChildServer } from './child-server.ts';
import { applyLoad, atFraction } from './load.ts';
import type { ReviewMaker } from './pod-reviews.ts';

const path = '/revisions/default/0a1b2c3d/inject?timeout=10s';
const requests = 3000;
/** Of what one core can do. */
const share = 0.7;
const connections = 8;

/** How long new pods wait for their answer: one after the other on one connection, and when they come at random times, at 70 % of what one core can do. */
export async function measureLatency(server: ChildServer, reviews: ReviewMaker): Promise<Figures> {
  let sent = 1_000_000;
  const load = (count: number, settings: { connections: number; perSecond?: number }) => {
    const first = (sent += count);
    return applyLoad({
      port: server.port,
      path,
      requests: count,
      body: (index) => reviews(first + index),
      ...settings,
    });
  };
  await load(requests, { connections: 1 });
  const before = server.usage().cpuMilliseconds;
  const single = await load(requests, { connections: 1 });
  const cost = (server.usage().cpuMilliseconds - before) / requests;
  const perSecond = Math.round((share * 1000) / cost);
  await load(requests / 10, { connections, perSecond });
  const paced = await load(requests, { connections, perSecond });
  const figures = {
    oneConnectionP50Milliseconds: atFraction(single.latencies, 0.5),
    oneConnectionP99Milliseconds: atFraction(single.latencies, 0.99),
    requestsPerSecond: perSecond,
    pacedP50Milliseconds: atFraction(paced.latencies, 0.5),
    pacedP99Milliseconds: atFraction(paced.latencies, 0.99),
    failed: single.failed + paced.failed,
  };
  console.log(
    `new pods, one connection: p50 ${figures.oneConnectionP50Milliseconds.toFixed(2)} ms, p99 ${figures.oneConnectionP99Milliseconds.toFixed(2)} ms | ` +
      `${perSecond} a second at random times (${100 * share} % of a core): p50 ${figures.pacedP50Milliseconds.toFixed(2)} ms, ` +
      `p99 ${figures.pacedP99Milliseconds.toFixed(2)} ms | ${figures.failed} failed`,
  );
  return figures;
}
