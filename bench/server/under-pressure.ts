import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../report.ts';
import type { ChildServer } from './child-server.ts';
import { applyLoad, atFraction, type LoadResult } from './load.ts';
import { type PodShape, podReviews } from './pod-reviews.ts';
import { largeBodies, slowClients } from './pressure.ts';

const path = '/revisions/default/0a1b2c3d/inject?timeout=10s';
const shape: PodShape = { containers: 2, environment: 10 };
const requests = 2000;
const slow = 1000;
const large = { connections: 6, bytes: 19 * 1024 * 1024 };

/** Measures requests before, during and after an attack by slow clients and large bodies. */
export async function measureUnderPressure(server: ChildServer): Promise<Figures> {
  let sent = 0;
  const reviews = podReviews(shape, true);
  const healthy = (): Promise<LoadResult> => {
    const first = (sent += requests);
    return applyLoad({ port: server.port, path, connections: 4, requests, body: (index) => reviews(first + index) });
  };
  const report = (when: string, { latencies, failed }: LoadResult, more = ''): Figures => {
    const { residentBytes, peakResidentBytes } = server.usage();
    const p50Milliseconds = atFraction(latencies, 0.5);
    const p99Milliseconds = atFraction(latencies, 0.99);
    console.log(
      `${when.padEnd(8)}| p50 ${p50Milliseconds.toFixed(1)} ms, p99 ${p99Milliseconds.toFixed(1)} ms, ${failed} of ${requests} failed | ` +
        `RSS ${residentBytes >> 20} MiB, peak ${peakResidentBytes >> 20} MiB${more}`,
    );
    return { p50Milliseconds, p99Milliseconds, failed, residentBytes, peakResidentBytes };
  };
  await healthy();
  const before = report('before', await healthy());
  const slowAttack = slowClients(server.port, path, slow);
  const largeAttack = largeBodies(server.port, path, large.connections, large.bytes);
  await sleep(3000);
  const during = report(
    'during',
    await healthy(),
    ` | ${slowAttack.open} slow connections, 19 MiB bodies: ${JSON.stringify(largeAttack.outcomes)}`,
  );
  await Promise.all([slowAttack.stop(), largeAttack.stop()]);
  await sleep(2000);
  const after = report('after', await healthy());
  return {
    slowClients: slow,
    largeBodyBytes: large.bytes,
    largeBodyOutcomes: largeAttack.outcomes,
    before,
    during,
    after,
  };
}
