import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';

/** The fields that differ from those of a complete workload of three pods. */
export interface WorkloadFields {
  readonly metadata?: object;
  readonly spec?: object;
  /** The metadata of the pod template. */
  readonly template?: object;
  readonly status?: object;
}

/** Returns a workload of three pods (DaemonSet: three nodes) in namespace `shop`, generation 4. */
export function workload(kind: string, name: string, { metadata, spec, template, status }: WorkloadFields = {}): KubernetesObject {
  const counts =
    kind === 'DaemonSet'
      ? { desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 3, numberAvailable: 3, numberMisscheduled: 0 }
      : { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: 'shop', uid: `uid-of-${name}`, resourceVersion: '7', generation: 4, ...metadata },
    spec: { ...(kind !== 'DaemonSet' && { replicas: 3 }), template: { metadata: { labels: { app: name }, ...template } }, ...spec },
    status: { observedGeneration: 4, ...counts, ...status },
  };
}
