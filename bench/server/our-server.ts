import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import type { ConfigurationFiles } from '../../src/api/configuration-files.ts';
import { loadInjector } from '../../src/inject/injector.ts';
import { createAdmissionServer } from '../../src/server/admission-server.ts';
import { revisionRoute } from '../../src/server/revision-route.ts';
import { ServerMetrics } from '../../src/server/server-metrics.ts';
import { type BenchmarkedServer, certificatePair } from './benchmarked.ts';

/** The real listener with the real engine. @param configurationFile holds {@link ConfigurationFiles} as JSON */
export async function startOurServer(configurationFile: string): Promise<BenchmarkedServer> {
  const injector = loadInjector(JSON.parse(readFileSync(configurationFile, 'utf8')) as ConfigurationFiles);
  const pair = await certificatePair();
  const registry = new Registry();
  const quiet = (): void => undefined;
  const server = createAdmissionServer({
    bindAddress: '127.0.0.1',
    port: 0,
    routes: [revisionRoute({ get: () => injector })],
    certificates: { forServerName: () => pair, defaultPair: () => pair, expiries: () => [] },
    log: { error: quiet, warn: quiet, info: quiet, debug: quiet, isLevelEnabled: (level) => level !== 'debug' },
    metrics: new ServerMetrics(registry),
    clock: () => performance.now(),
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
