import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';

/** What is different from a workload of three pods that is complete. */
export interface WorkloadFields {
  readonly metadata?: object;
  readonly spec?: object;
  /** metadata of its pod template. */
  readonly template?: object;
  readonly status?: object;
}

/** A workload of three pods (or of three nodes) in namespace `shop`, in its fourth generation, as the API server sends it. */
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
