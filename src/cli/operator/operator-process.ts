import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ServingCertificates } from '../../certs/serving-certificates.ts';
import { ApiClient } from '../../kube/api-client.ts';
import type { KubeConfig } from '../../kube/kube-config.ts';
import { systemClock } from '../../kube/clock.ts';
import { InjectorOperator } from '../../operator/injector-operator.ts';
import { ProxyConfigResources } from '../../operator/proxy-config-resources.ts';
import { Replica } from '../../operator/replica.ts';
import type { OperatorSettings } from '../../operator/settings.ts';
import { createAdmissionServer } from '../../server/admission-server.ts';
import { createHealthServer } from '../../server/health-server.ts';
import { listenerCheck } from '../../server/listener-check.ts';
import { withPathProbe } from '../../server/path-probe-route.ts';
import { revisionRoute } from '../../server/revision-route.ts';
import { ServerMetrics } from '../../server/server-metrics.ts';
import { defaultShutDownTimes, servingCheck, shutDown } from '../../server/shut-down.ts';
import { validateRoute } from '../../server/validate-route.ts';
import { InjectorRegistry } from '../injector-registry.ts';
import type { Logger } from '../logger.ts';
import { version } from '../version.ts';
import type { OperatorOptions } from './operator-options.ts';
import { PrometheusOperatorMetrics } from './operator-metrics.ts';
import { validateReview } from './validate-review.ts';

/** A running operator. */
export interface OperatorProcess {
  /** Takes it out of service without losing an admission, and releases the lease. */
  stop(): Promise<void>;
}

/**
 * The composition root: hands the controller, the replica and the server the same registries, and starts them.
 * @throws ConfigurationError when an address or port cannot be used.
 */
export async function startOperator(
  options: OperatorOptions,
  kubeConfig: KubeConfig,
  namespace: string,
  logger: Logger,
): Promise<OperatorProcess> {
  const identity = options.identity ?? process.env['POD_NAME'] ?? `${hostname()}-${process.pid}`;
  const client = new ApiClient(kubeConfig, { userAgent: `injector/${version} (${options.role} ${identity})` });
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = new PrometheusOperatorMetrics(registry);
  const injectors = new InjectorRegistry();
  const certificates = new ServingCertificates();
  const shared = { client, clock: systemClock, random: Math.random, logger };
  const replica = new Replica({
    ...shared,
    namespace,
    operatorClass: options.operatorClass,
    identity,
    registry: injectors,
    certificates,
    observer: metrics,
  });
  const proxyConfigs = new ProxyConfigResources({ ...shared, observer: metrics });
  // The engine picks those of the root namespace and of the pod's.
  const surroundings = { nodes: () => replica.nodes(), proxyConfigs: () => proxyConfigs.list() };
  const server = createAdmissionServer({
    bindAddress: options.bindAddress,
    port: options.webhookPort,
    routes: [withPathProbe(revisionRoute(injectors, surroundings), identity), validateRoute(validateReview)],
    certificates,
    log: logger,
    metrics: new ServerMetrics(registry),
    clock: () => performance.now(),
  });
  const synced = {
    name: 'synced',
    check: () => (replica.ready && proxyConfigs.settled ? undefined : 'configurations are not loaded yet'),
  };
  const health = createHealthServer({
    bindAddress: options.bindAddress,
    port: options.healthPort,
    checks: [synced, servingCheck(server), listenerCheck(server)],
    metrics: registry,
    log: logger,
  });
  const controller = new InjectorOperator({
    ...shared,
    kubeConfig,
    settings: operatorSettings(options, namespace, identity),
    reports: replica,
    metrics,
  });
  await health.listen();
  try {
    await server.listen();
  } catch (error) {
    // Left open it would keep the process alive, and nobody would be told to start another.
    await health.close();
    throw error;
  }
  replica.start();
  proxyConfigs.start();
  await controller.start();
  logger.info('started', { version, role: options.role, identity, namespace, apiServer: client.server });
  return {
    async stop() {
      // The controller first: nobody needs a leader to be injected, and another candidate can take over meanwhile.
      controller.stop();
      await Promise.all([
        controller.stopped(),
        shutDown(server, { ...defaultShutDownTimes, drain: options.drainSeconds * 1000 }),
      ]);
      replica.stop();
      proxyConfigs.stop();
      await health.close();
      client.close();
    },
  };
}

function operatorSettings(options: OperatorOptions, namespace: string, identity: string): OperatorSettings {
  const { operatorClass, podSelector, advertise, webhookPort, owner } = options;
  return {
    context: {
      namespace,
      operatorClass,
      podSelector,
      targetPort: webhookPort,
      ...(advertise === undefined ? {} : { advertise }),
    },
    identity,
    ...(owner === undefined ? {} : { owner }),
  };
}
