import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { boundHeap } from '../../src/cli/heap-bounds.ts';
import { loadInjector } from '../../src/inject/injector.ts';
import { createAdmissionServer } from '../../src/server/admission-server.ts';
import { ReviewWorker } from '../../src/server/worker/review-worker.ts';
import { revisionRoute } from '../../src/server/admission/pod-routes.ts';
import { ServerMetrics } from '../../src/server/metrics/server-metrics.ts';
import { type BenchmarkedServer, certificatePair } from './benchmarked.ts';

/** Starts the real listener and engine. `configurationFile` contains ConfigurationFiles as JSON. */
export async function startOurServer(configurationFile: string): Promise<BenchmarkedServer> {
  boundHeap();
  const injector = loadInjector(JSON.parse(readFileSync(configurationFile, 'utf8')) as ConfigurationFiles);
  const pair = await certificatePair();
  const registry = new Registry();
  const quiet = (): void => undefined;
  const log = {
    error: quiet,
    warn: quiet,
    info: quiet,
    debug: quiet,
    isLevelEnabled: (level: string) => level !== 'debug',
  };
  const clock = (): number => performance.now();
  const worker = new ReviewWorker({ log, clock });
  const server = createAdmissionServer({
    bindAddress: '127.0.0.1',
    port: 0,
    routes: [revisionRoute({ get: () => injector }, { worker })],
    certificates: { forServerName: () => pair, defaultPair: () => pair, expiries: () => [] },
    log,
    metrics: new ServerMetrics(registry),
    clock,
  });
  await server.listen();
  return {
    port: server.address?.port ?? 0,
    async reused() {
      const text = await registry.getSingleMetricAsString('injector_admission_decisions_reused_total');
      return Number(/_total (\d+)/.exec(text)?.[1] ?? 0);
    },
  };
}
