import type { KubeConfig } from '../../kube/kube-config.ts';
import { requireServerVersion } from '../../kube/server-version.ts';
import { InjectorOperator } from '../../operator/controller/injector-operator.ts';
import { ReplicaLeases } from '../../operator/replicas/replica-leases.ts';
import type { LoadConfiguration } from '../../operator/ports.ts';
import type { OperatorSettings } from '../../operator/settings.ts';
import type { ReadinessCheck } from '../../server/health/readiness.ts';
import type { OperatorOptions } from './operator-options.ts';
import type { PartContext } from './part-context.ts';

/** What reconciles, in a process of role `controller` or `all`. */
export interface ControllingPart {
  readonly checks: readonly ReadinessCheck[];
  /** Begins to follow the cluster and to stand for leader. @throws ConfigurationError when the API server is too old. */
  start(): Promise<void>;
  /** Ends what is under way and releases the lease, so that another can lead at once. */
  stop(): Promise<void>;
}

export function createControllingPart(
  options: OperatorOptions,
  context: PartContext,
  kubeConfig: KubeConfig,
  load: LoadConfiguration,
): ControllingPart {
  const { client, namespace, identity, metrics, logger } = context;
  const { operatorClass, testLeaseTimeScale: timeScale = 1 } = options;
  const reports = new ReplicaLeases({ ...context, operatorClass, timeScale, observer: metrics });
  const controller = new InjectorOperator({
    ...context,
    kubeConfig,
    settings: operatorSettings(options, namespace, identity),
    reports,
    load,
  });
  const synced = {
    name: 'synced',
    check: () => (controller.synced ? undefined : 'the cluster has not been read yet'),
  };
  return {
    checks: [synced],
    async start() {
      await requireServerVersion(client, logger);
      reports.start();
      await controller.start();
    },
    async stop() {
      controller.stop();
      await controller.stopped();
      reports.stop();
    },
  };
}

function operatorSettings(options: OperatorOptions, namespace: string, identity: string): OperatorSettings {
  const { operatorClass, podSelector, advertise, webhookPort, owner, testCertificateTimeScale } = options;
  const { followPods, restartWorkloads, testLeaseTimeScale } = options;
  return {
    context: {
      namespace,
      operatorClass,
      podSelector,
      targetPort: webhookPort,
      ...(advertise === undefined ? {} : { advertise }),
    },
    identity,
    followPods,
    restartWorkloads,
    ...(owner === undefined ? {} : { owner }),
    ...(testCertificateTimeScale === undefined ? {} : { certificateTimeScale: testCertificateTimeScale }),
    ...(testLeaseTimeScale === undefined ? {} : { leaseTimeScale: testLeaseTimeScale }),
  };
}
