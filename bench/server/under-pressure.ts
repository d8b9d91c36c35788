import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildServer } from './child-server.ts';
import { applyLoad, type LoadResult } from './load.ts';
import { type PodShape, podReviews } from './pod-reviews.ts';
import { largeBodies, slowClients } from './pressure.ts';

const path = '/revisions/default/0a1b2c3d/inject?timeout=10s';
const shape: PodShape = { containers: 2, environment: 10 };
const requests = 2000;
const slow = 1000;
const large = { connections: 6, bytes: 19 * 1024 * 1024 };

/** Healthy requests before, during and after an attack of slow clients and large bodies at once; the attackers share the machine. Prints a line for each. */
export async function measureUnderPressure(server: ChildServer): Promise<void> {
  let sent = 0;
  const reviews = podReviews(shape, true);
  const healthy = (): Promise<LoadResult> => {
    const first = (sent += requests);
    return applyLoad({ port: server.port, path, connections: 4, requests, body: (index) => reviews(first + index) });
  };
  const report = (when: string, result: LoadResult, more = ''): void => {
    const { latencies, failed } = result;
    const at = (fraction: number): string => (latencies[Math.floor(latencies.length * fraction)] ?? 0).toFixed(1);
    const { residentBytes, peakResidentBytes } = server.usage();
    const memory = `RSS ${residentBytes >> 20} MiB, peak ${peakResidentBytes >> 20} MiB`;
    console.log(
      `${when.padEnd(8)}| p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${failed} of ${requests} failed | ${memory}${more}`,
    );
  };
  await healthy();
  report('before', await healthy());
  const slowOnes = slowClients(server.port, path, slow);
  const largeOnes = largeBodies(server.port, path, large.connections, large.bytes);
  await sleep(3000);
  const during = await healthy();
  report(
    'during',
    during,
    ` | ${slowOnes.open} slow connections, 19 MiB bodies: ${JSON.stringify(largeOnes.outcomes)}`,
  );
  await Promise.all([slowOnes.stop(), largeOnes.stop()]);
  await sleep(2000);
  report('after', await healthy());
}
