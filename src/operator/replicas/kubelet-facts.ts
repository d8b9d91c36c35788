import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { NodeFacts } from '../../inject/injection-request.ts';

interface NodeStatus {
  nodeInfo?: { kubeletVersion?: string };
}

/** What injection reads of a Node. */
export function kubeletFacts(node: KubernetesObject): NodeFacts {
  const { nodeInfo } = (node.status ?? {}) as NodeStatus;
  return { name: node.metadata.name ?? '', kubeletVersion: nodeInfo?.kubeletVersion ?? '' };
}

/** Nodes are large and change with every heartbeat; only this much of them is kept. */
export function withoutAllButKubelet(node: KubernetesObject): KubernetesObject {
  const { name = '', resourceVersion = '' } = node.metadata;
  return {
    apiVersion: node.apiVersion,
    kind: node.kind,
    metadata: { name, resourceVersion },
    status: { nodeInfo: { kubeletVersion: kubeletFacts(node).kubeletVersion } },
  };
}
