import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import { ServingCertificates } from '../../certs/serving-certificates.ts';
import { ProxyConfigResources } from '../../operator/replicas/proxy-config-resources.ts';
import type { LoadConfiguration } from '../../operator/ports.ts';
import { createReplicaReporter } from '../../operator/replicas/replica-reporter.ts';
import { Replica } from '../../operator/replicas/replica.ts';
import { ReviewedObjects } from '../../operator/controller/reviewed-objects.ts';
import { createAdmissionServer } from '../../server/admission-server.ts';
import { certificatesCheck, listenerCheck } from '../../server/health/certificates-check.ts';
import { withPathProbe } from '../../server/admission/path-probe-route.ts';
import { revisionRoute } from '../../server/admission/pod-routes.ts';
import { comparisonBounds, RolloutComparisons } from '../../server/rollout/rollout-comparisons.ts';
import { rolloutRoute } from '../../server/rollout/rollout-route.ts';
import { FailedInjections } from '../../server/metrics/failed-injections.ts';
import { ServerMetrics } from '../../server/metrics/server-metrics.ts';
import { defaultShutDownTimes, servingCheck, shutDown } from '../../server/health/shut-down.ts';
import { validateRoute } from '../../server/admission/validate-route.ts';
import { ReviewWorker } from '../../server/worker/review-worker.ts';
import { measuredWorker } from '../../server/worker/worker-metrics.ts';
import { programVersion } from '../version.ts';
import type { OperatorOptions } from './operator-options.ts';
import type { PartContext } from './controlling-part.ts';
import { validateReview } from './validate-review.ts';
import type { Injector } from '../../inject/injector.ts';

/** Creates the serving part. The replica loads what the server answers from. */
export function createServingPart(
  options: OperatorOptions,
  context: PartContext,
  registry: Registry,
  load: LoadConfiguration,
) {
  const { namespace, identity, metrics, ...shared } = context;
  const { operatorClass, openshift, requestsPerConnection, testLeaseTimeScale: timeScale = 1 } = options;
  const clock = (): number => performance.now();
  const worker = measuredWorker(registry, { log: shared.logger, clock });
  const injectors = new Map<string, Injector>();
  const certificates = new ServingCertificates();
  const own = { ...shared, namespace, operatorClass };
  const replica = new Replica({ ...own, openshift, injectors, load, certificates, observer: metrics });
  const reporter = createReplicaReporter({
    ...own,
    identity,
    instance: randomBytes(4).toString('hex'),
    timeScale,
    version: programVersion,
    serves: () => replica.serves(),
    shadow: () => comparisons.reports(),
    failures: () => failed.list(),
  });
  const failed = new FailedInjections(
    () => shared.clock.now().getTime(),
    () => reporter.changed(),
  );
  const reviewed = new ReviewedObjects({ ...shared, operatorClass, observer: metrics });
  const proxyConfigs = new ProxyConfigResources({ ...shared, observer: metrics });
  // The engine selects the ProxyConfigs of the root namespace and of the pod's namespace.
  const surroundings = () => {
    const namespaces = replica.namespaces();
    return { nodes: replica.nodes(), proxyConfigs: proxyConfigs.list(), ...(namespaces && { namespaces }) };
  };
  const serverMetrics = new ServerMetrics(registry);
  const comparisonWorker = new ReviewWorker({ log: shared.logger, clock, bounds: comparisonBounds });
  const comparisons = new RolloutComparisons({ worker: comparisonWorker, surroundings, observer: serverMetrics });
  const server = createAdmissionServer({
    bindAddress: options.bindAddress,
    port: options.webhookPort,
    routes: [
      withPathProbe(revisionRoute(injectors, { surroundings, worker }), identity),
      withPathProbe(rolloutRoute(injectors, { surroundings, worker, comparisons }), identity),
      validateRoute((request) => validateReview(load, request, reviewed)),
    ],
    certificates,
    log: shared.logger,
    metrics: serverMetrics,
    clock,
    failed,
    ...(requestsPerConnection !== undefined && { limits: { requestsPerConnection } }),
  });
  const isSynced = (): boolean => replica.ready && proxyConfigs.settled;
  const synced = { name: 'synced', check: () => (isSynced() ? undefined : 'configurations are not loaded yet') };
  const valid = certificatesCheck(certificates, () => shared.clock.now());
  return {
    checks: [synced, servingCheck(server), listenerCheck(server), valid],
    /** @throws ConfigurationError for an address or port that cannot be used */
    listen: () => server.listen(),
    /** Closes the listener after a failed start. */
    close: () => server.close(0),
    /** Starts the watches and the reports. Returns immediately. */
    start() {
      replica.subscribe(() => reporter.changed());
      replica.start();
      reporter.start();
      proxyConfigs.start();
      reviewed.start();
    },
    /** Drains the server, then releases the Lease: the server answers while it drains. */
    async stop() {
      reporter.drain();
      await shutDown(server, { ...defaultShutDownTimes, drain: options.drainSeconds * 1000 });
      await worker.close();
      await comparisonWorker.close();
      await reporter.stop();
      replica.stop();
      proxyConfigs.stop();
      reviewed.stop();
    },
  };
}
