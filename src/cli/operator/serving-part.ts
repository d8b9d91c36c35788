import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import { ServingCertificates } from '../../certs/serving-certificates.ts';
import { ProxyConfigResources } from '../../operator/proxy-config-resources.ts';
import type { LoadConfiguration } from '../../operator/ports.ts';
import { ReplicaReporter } from '../../operator/replica-reporter.ts';
import { Replica } from '../../operator/replica.ts';
import { ReviewedObjects } from '../../operator/reviewed-objects.ts';
import { createAdmissionServer } from '../../server/admission-server.ts';
import { certificatesCheck } from '../../server/certificates-check.ts';
import { HeavyLane } from '../../server/lane/heavy-lane.ts';
import { LaneMetrics } from '../../server/lane/lane-metrics.ts';
import { listenerCheck } from '../../server/listener-check.ts';
import type { ReadinessCheck } from '../../server/readiness.ts';
import { withPathProbe } from '../../server/path-probe-route.ts';
import { revisionRoute } from '../../server/revision-route.ts';
import { comparisonLaneLimits, RolloutComparisons } from '../../server/rollout/rollout-comparisons.ts';
import { rolloutRoute } from '../../server/rollout/rollout-route.ts';
import { ServerMetrics } from '../../server/server-metrics.ts';
import { defaultShutDownTimes, servingCheck, shutDown } from '../../server/shut-down.ts';
import { validateRoute } from '../../server/validate-route.ts';
import { InjectorRegistry } from '../injector-registry.ts';
import type { OperatorOptions } from './operator-options.ts';
import type { PartContext } from './part-context.ts';
import { validateReview } from './validate-review.ts';

/** What serves admission, in a process of role `webhook` or `all`. */
export interface ServingPart {
  readonly checks: readonly ReadinessCheck[];
  /** @throws ConfigurationError when the address or port cannot be used. */
  listen(): Promise<void>;
  /** Closes the listener when the process cannot go on. */
  close(): Promise<void>;
  /** Begins to follow the cluster and to report; returns at once. */
  start(): void;
  /** Takes it out of service without losing an admission; its Lease goes last, since it answers until then. */
  stop(): Promise<void>;
}

/** Hands the replica that follows the cluster and the server that answers from memory the same registries. */
export function createServingPart(
  options: OperatorOptions,
  context: PartContext,
  registry: Registry,
  load: LoadConfiguration,
): ServingPart {
  const { namespace, identity, metrics, ...shared } = context;
  const { operatorClass, requestsPerConnection } = options;
  const clock = (): number => performance.now();
  const laneMetrics = new LaneMetrics(registry);
  const lane = new HeavyLane({ log: shared.logger, clock, observer: laneMetrics });
  laneMetrics.readFrom(lane);
  const injectors = new InjectorRegistry();
  const certificates = new ServingCertificates();
  const replica = new Replica({
    ...shared,
    namespace,
    operatorClass,
    registry: injectors,
    load,
    certificates,
    observer: metrics,
  });
  const reporter = new ReplicaReporter({
    ...shared,
    namespace,
    operatorClass,
    identity,
    instance: randomBytes(4).toString('hex'),
    serves: () => replica.serves(),
    shadow: () => comparisons.reports(),
  });
  const reviewed = new ReviewedObjects({ ...shared, operatorClass, observer: metrics });
  const proxyConfigs = new ProxyConfigResources({ ...shared, observer: metrics });
  // The engine picks those of the root namespace and of the pod's.
  const surroundings = { nodes: () => replica.nodes(), proxyConfigs: () => proxyConfigs.list() };
  const serverMetrics = new ServerMetrics(registry);
  const comparisonLane = new HeavyLane({ log: shared.logger, clock, limits: comparisonLaneLimits });
  const comparisons = new RolloutComparisons({ lane: comparisonLane, surroundings, clock, observer: serverMetrics });
  const server = createAdmissionServer({
    bindAddress: options.bindAddress,
    port: options.webhookPort,
    routes: [
      withPathProbe(revisionRoute(injectors, surroundings, undefined, lane), identity),
      withPathProbe(rolloutRoute(injectors, { surroundings, lane, comparisons }), identity),
      validateRoute((request) => validateReview(load, request, reviewed)),
    ],
    certificates,
    log: shared.logger,
    metrics: serverMetrics,
    clock,
    ...(requestsPerConnection !== undefined && { limits: { requestsPerConnection } }),
  });
  const synced = {
    name: 'synced',
    check: () => (replica.ready && proxyConfigs.settled ? undefined : 'configurations are not loaded yet'),
  };
  const valid = certificatesCheck(certificates, () => shared.clock.now());
  return {
    checks: [synced, servingCheck(server), listenerCheck(server), valid],
    listen: () => server.listen(),
    close: () => server.close(0),
    start() {
      replica.subscribe(() => {
        reporter.changed();
      });
      replica.start();
      reporter.start();
      proxyConfigs.start();
      reviewed.start();
    },
    async stop() {
      reporter.drain();
      await shutDown(server, { ...defaultShutDownTimes, drain: options.drainSeconds * 1000 });
      await lane.close();
      await comparisons.close();
      await reporter.stop();
      replica.stop();
      proxyConfigs.stop();
      reviewed.stop();
    },
  };
}
