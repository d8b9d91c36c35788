import type { MemoryCluster } from './memory-cluster.ts';

/** The message for a full quota, as the API server and the controller of ReplicaSets write it. */
export const fullQuota = 'Error creating: pods "web-1-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=9, limited: pods=9';
/** The message for a pod that the API server's validation refuses. */
export const invalidPod = 'Error creating: Pod "web-1-x" is invalid: spec.containers[1].image: Required value';

/** Adds the ReplicaSet of a Deployment, and the Event of its controller: a pod was refused now. */
export function refusePods(cluster: MemoryCluster, namespace: string, deployment: string, message: string, now: Date): void {
  const name = `${deployment}-5d9c7bbbf4`;
  const object = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name, namespace } };
  const labels = { app: deployment, 'pod-template-hash': '5d9c7bbbf4' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app' }] } };
  cluster.put('replicasets', { ...object, spec: { replicas: 1, template }, status: { replicas: 0 } });
  forgeRefusal(cluster, namespace, name, message, now);
}

/** Adds an Event about a ReplicaSet that may not exist. */
export function forgeRefusal(cluster: MemoryCluster, namespace: string, name: string, message: string, now: Date): void {
  cluster.put('events', {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.1`, namespace },
    type: 'Warning',
    reason: 'FailedCreate',
    involvedObject: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, namespace },
    message,
    lastTimestamp: now.toISOString(),
  });
}
