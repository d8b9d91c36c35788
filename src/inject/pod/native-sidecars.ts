import type { NativeSidecars } from '../../api/injector-config/injection-settings.ts';
import type { NodeFacts } from '../injection-request.ts';

/** The minor version of the first kubelet 1.x whose native sidecars Istio trusts. */
const firstMinor = 33;

/** The minor version of the first kubelet 1.x that starts pods with native sidecars by default. */
const firstRunningMinor = 29;

/**
 * Reports whether the proxy becomes a native sidecar. In mode Auto, the pod's node (or every node,
 * if the pod's node is unknown) must run kubelet 1.33 or newer, and there must be a node.
 */
export function useNativeSidecars(
  mode: NativeSidecars,
  nodes: readonly NodeFacts[] | undefined,
  nodeName: string | undefined,
): boolean {
  if (mode !== 'Auto') return mode === 'Enabled';
  if (nodes === undefined || nodes.length === 0) return false;
  const own = nodeName === undefined ? undefined : nodes.find((node) => node.name === nodeName);
  return (own === undefined ? nodes : [own]).every((node) => isAtLeast(node, firstMinor));
}

/** Reports whether pods with native sidecars start on a node; true if its version is unknown. */
export function runsNativeSidecars(node: NodeFacts): boolean {
  return node.kubeletVersion === '' || isAtLeast(node, firstRunningMinor);
}

function isAtLeast({ kubeletVersion }: NodeFacts, least: number): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(kubeletVersion) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= least);
}
