import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { waitFor } from './wait-for.ts';

interface Node {
  spec?: { taints?: unknown[] };
  status?: { conditions?: { type: string; status: string }[] };
}

/**
 * Creates fake nodes and waits until pods can be scheduled on them.
 *
 * @param kubeletVersion what the nodes report; native sidecars are decided by it
 */
export async function createNodes(client: ApiClient, names: string[], kubeletVersion = 'v1.36.3'): Promise<void> {
  for (const [index, name] of names.entries()) {
    const resources = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '10000' };
    await client.create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      },
      status: {
        addresses: [
          { type: 'InternalIP', address: `10.0.0.${index + 1}` },
          { type: 'Hostname', address: name },
        ],
        capacity: resources,
        allocatable: resources,
        nodeInfo: {
          kubeletVersion,
          architecture: 'amd64',
          operatingSystem: 'linux',
          osImage: 'KWOK',
          kernelVersion: 'none',
          containerRuntimeVersion: 'kwok://0',
          kubeProxyVersion: '',
          machineID: '',
          systemUUID: '',
          bootID: '',
        },
      },
    });
  }
  for (const name of names) {
    await waitFor(`node ${name} to be ready`, async () => {
      const { spec, status } = await client.get<Node>(resourceKind('v1', 'Node'), name);
      const ready = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true;
      return ready && (spec?.taints ?? []).length === 0;
    });
  }
}
