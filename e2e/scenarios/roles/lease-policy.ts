import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { ApiClient } from '../../../src/kube/api-client.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import { loadKubeConfig } from '../../../src/kube/kube-config.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { workloadFor } from '../../harness/installation.ts';
import type { Pod } from '../../harness/pod.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { serviceAccountKubeconfig } from '../../harness/service-account.ts';

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');

/** With the very token of a webhook replica: its own Lease may be written, the leader's and the others' may not, whatever RBAC allows. */
export async function checkLeasePolicy(context: ScenarioContext, replicas: Replicas): Promise<void> {
  const { installation } = replicas;
  const { namespace } = installation;
  const [own, other] = replicas.webhooks;
  if (own === undefined || other === undefined) throw new Error('two webhook replicas are needed');
  const { account } = workloadFor(installation.workloads, 'webhook');
  const as = async (pod: Pod | undefined) =>
    new ApiClient(
      loadKubeConfig({ kubeconfig: await serviceAccountKubeconfig(context.cluster, namespace, account, pod) }),
    );
  const [replica, unbound] = [await as(own.pod), await as(undefined)];
  try {
    const read = (name: string) => replica.get(leases, name, { namespace });
    const ownName = `injector-replica-${own.name}`;
    const elsewhere: KubernetesObject = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'injector-replica-invented', namespace },
    };
    await context.check('a replica writes its own Lease', async () => {
      await replica.replace(await read(ownName));
      return true;
    });
    const attempts: [what: string, attempt: () => Promise<unknown>][] = [
      ['takes the Lease of the leader', async () => replica.replace(await read('injector-leader-default'))],
      ['deletes the Lease of the leader', async () => replica.delete(await read('injector-leader-default'))],
      ['writes the Lease of another', async () => replica.replace(await read(`injector-replica-${other.name}`))],
      ['deletes the Lease of another', async () => replica.delete(await read(`injector-replica-${other.name}`))],
      ['invents a replica', () => replica.create(elsewhere)],
      ['writes its Lease with a token that is bound to no pod', async () => unbound.replace(await read(ownName))],
    ];
    for (const [what, attempt] of attempts) {
      await context.check(`a replica ${what}: denied by the policy`, async () => {
        const message = await refusalOf(attempt);
        if (message.includes('a webhook replica may write the Lease of its own pod only')) return true;
        throw new Error(message);
      });
    }
  } finally {
    replica.close();
    unbound.close();
  }
}

async function refusalOf(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt();
    return 'it was allowed';
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return error.message;
    throw error;
  }
}
