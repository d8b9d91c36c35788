import { replicaAnnotations } from '../../../src/api/labels.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** What a replica's Lease says of one InjectorConfig, and how many bytes that takes. */
export async function checkLeaseSize(context: ScenarioContext, replicas: Replicas, name: string): Promise<number> {
  const leases = resourceKind('coordination.k8s.io/v1', 'Lease');
  const { namespace } = replicas.installation;
  let bytes = 0;
  for (const replica of replicas.webhooks) {
    await context.check(`the Lease of ${replica.name} says which hash and certificate it serves`, async () => {
      const lease = await context.client.get(leases, `injector-replica-${replica.name}`, {
        namespace,
      });
      const text = lease.metadata.annotations?.[replicaAnnotations.serves] ?? '{}';
      const served = (JSON.parse(text) as Record<string, { hashes: string[]; certificate?: string }>)[name];
      bytes = JSON.stringify(served).length;
      return served?.hashes.length === 1 && /^[0-9a-f]{64}$/.test(served.certificate ?? '');
    });
  }
  return bytes;
}
