import type { ApiClient } from '../../kube/api-client.ts';
import type { KubeConfig } from '../../kube/kube-config.ts';
import type { FollowingParts } from '../../kube/reflector.ts';
import { requireServerVersion } from '../../kube/server-version.ts';
import { InjectorOperator } from '../../operator/controller/injector-operator.ts';
import { ReplicaLeases } from '../../operator/replicas/replica-leases.ts';
import type { OperatorMetrics, RehearsePods, TryConfiguration } from '../../operator/ports.ts';
import type { OperatorOptions } from './operator-options.ts';

/** The objects that the parts of an operator process share. */
export interface PartContext extends FollowingParts {
  readonly client: ApiClient;
  readonly namespace: string;
  /** The name of this process in leader election and among the replicas. */
  readonly identity: string;
  readonly metrics: OperatorMetrics;
}

/** Creates the controller, in a process of role `controller` or `all`. */
export function createControllingPart(
  options: OperatorOptions,
  context: PartContext,
  kubeConfig: KubeConfig,
  trials: { readonly tryOne: TryConfiguration; readonly rehearse: RehearsePods },
) {
  const { client, namespace, identity, metrics, logger } = context;
  const { operatorClass, podSelector, advertise, webhookPort: targetPort, testLeaseTimeScale: timeScale = 1 } = options;
  const manifests = { namespace, operatorClass, podSelector, targetPort, ...(advertise && { advertise }) };
  const reports = new ReplicaLeases({ ...context, operatorClass, timeScale, observer: metrics });
  const operator = new InjectorOperator({
    ...context,
    kubeConfig,
    // The other settings have the names of their options.
    settings: { ...options, context: manifests, identity },
    reports,
    ...trials,
  });
  const check = (): string | undefined => (operator.controller.synced ? undefined : 'the caches are not filled yet');
  return {
    checks: [{ name: 'synced', check }],
    /** Starts the watches and leader election. @throws ConfigurationError for an old API server */
    async start() {
      await requireServerVersion(client, logger);
      reports.start();
      await operator.start();
    },
    /** Ends the passes and releases the Lease, so that another process can lead immediately. */
    async stop() {
      operator.stop();
      await operator.controller.stopped();
      reports.stop();
    },
  };
}
