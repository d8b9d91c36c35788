import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, leaderLeaseName, replicaLeaseName } from '../../api/names.ts';

/** Returns the Leases of a leader and a replica whose last heartbeat is `last`. */
export function operatorLeases(last = new Date(), namespace = 'injection'): KubernetesObject[] {
  return [
    { name: leaderLeaseName('default'), labels: {} },
    { name: replicaLeaseName('web-1'), labels: { [labelNames.replica]: 'default' } },
  ].map((metadata) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...metadata, namespace },
    spec: { holderIdentity: 'web-1', renewTime: last.toISOString() },
  }));
}
