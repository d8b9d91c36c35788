import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ConfigurationError } from '../../api/errors.ts';
import { type ConfigurationOutline, outlineOf } from '../../inject/injector.ts';
import { ApiClient } from '../../kube/api-client.ts';
import type { KubeConfig } from '../../kube/kube-config.ts';
import { systemClock } from '../../kube/clock.ts';
import type { LoadConfiguration, RehearsePods, TryConfiguration } from '../../operator/ports.ts';
import { createHealthServer } from '../../server/health/health-server.ts';
import { ConfigurationLoader } from '../../server/loading/configuration-loader.ts';
import { ConfigurationTrials } from '../../server/trial/configuration-trials.ts';
import { trialMetrics } from '../../server/trial/trial-metrics.ts';
import { youngCollector } from '../heap-bounds.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { programVersion } from '../version.ts';
import { createControllingPart } from './controlling-part.ts';
import type { OperatorOptions } from './operator-options.ts';
import { prometheusOperatorMetrics } from './operator-metrics.ts';
import { createServingPart } from './serving-part.ts';

/** A running operator. */
export interface OperatorProcess {
  /** Drains the server without failing a request, and releases the Leases. */
  stop(): Promise<void>;
}

/** Starts the process. @throws ConfigurationError for an invalid address or an old API server */
export async function startOperator(
  options: OperatorOptions,
  kubeConfig: KubeConfig,
  namespace: string,
  logger: Logger,
): Promise<OperatorProcess> {
  const { role } = options;
  const identity = options.identity ?? process.env['POD_NAME'] ?? defaultIdentity();
  const client = new ApiClient(kubeConfig, { userAgent: `injector/${programVersion} (${role} ${identity})` });
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = prometheusOperatorMetrics(registry);
  const { testClockOffsetFile } = options;
  const clock = testClockOffsetFile === undefined ? systemClock : offsetClock(systemClock, testClockOffsetFile, logger);
  const context = { client, namespace, identity, clock, random: Math.random, logger, metrics };
  const monotonic = (): number => performance.now();
  // Replicas load what the leader has tried.
  const tried = { isBrief: role === 'webhook', observer: trialMetrics(registry) };
  const trials = new ConfigurationTrials({ log: logger, clock: monotonic, ...tried });
  const loader = new ConfigurationLoader({ clock: monotonic, trials, collect: youngCollector() });
  const load: LoadConfiguration = async (files) => {
    const injector = await loader.load(files);
    if (!options.openshift) refuseOpenShift(injector);
    return injector;
  };
  const tryOne: TryConfiguration = async (files) => {
    const outline = outlineOf(await trials.try(files));
    if (!options.openshift) refuseOpenShift(outline);
    return outline;
  };
  const rehearse: RehearsePods = async (files, pods) => (await trials.try(files, pods)).rehearsal ?? { warnings: [] };
  const serving = role === 'controller' ? undefined : createServingPart(options, context, registry, load);
  const controlling =
    role === 'webhook' ? undefined : createControllingPart(options, context, kubeConfig, { tryOne, rehearse });
  const health = createHealthServer({
    bindAddress: options.bindAddress,
    port: options.healthPort,
    // A serving process is ready when it can answer, with or without a leader.
    checks: serving?.checks ?? controlling?.checks ?? [],
    metrics: registry,
    log: logger,
  });
  await health.listen();
  const stop = async (): Promise<void> => {
    // Stop in parallel: injection needs no leader, and another candidate can become the leader.
    await Promise.all([trials.close(), controlling?.stop(), serving?.stop()]);
    await health.close();
    client.close();
  };
  try {
    await serving?.listen();
    await controlling?.start();
  } catch (error) {
    // An open server would keep the process alive, and the kubelet would not restart it.
    await health.close();
    await trials.close();
    await serving?.close();
    client.close();
    throw error;
  }
  serving?.start();
  logger.info('started', { version: programVersion, role, identity, namespace, apiServer: client.server });
  return { stop };
}

/** Refuses a configuration that needs the ranges of namespaces. @throws ConfigurationError */
export function refuseOpenShift({ settings }: ConfigurationOutline): void {
  if (settings.platform !== 'OpenShift') return;
  const field = 'spec.injection.platform';
  const what =
    'is OpenShift (by default, global.platform in the values of configFrom), but this operator does not read';
  const remedy = 'set operator.openShift of the chart (--openshift), or set the field to Kubernetes';
  throw new ConfigurationError(field, `${field} ${what} the ranges of namespaces; ${remedy}`);
}

/** Returns a name from the host name and the process id that is valid in an object name. */
function defaultIdentity(): string {
  const host = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100);
  return `${host}-${process.pid}`;
}

/**
 * Returns a clock that adds the offset in a file, in milliseconds, so that tests simulate a wrong
 * time of day. Each use reads the file; while the file is invalid, the last offset remains.
 */
export function offsetClock(clock: Clock, file: string, logger: Pick<Logger, 'warn'>): Clock {
  let offset = 0;
  const read = (): number => {
    try {
      const text = readFileSync(file, 'utf8').trim();
      return /^-?\d{1,12}$/.test(text) ? Number(text) : offset;
    } catch {
      return offset;
    }
  };
  return {
    now() {
      const before = offset;
      offset = read();
      if (offset !== before) logger.warn('the clock was moved for a test', { milliseconds: offset });
      return new Date(clock.now().getTime() + offset);
    },
    monotonic: () => clock.monotonic(),
    after: (milliseconds, callback) => clock.after(milliseconds, callback),
  };
}
