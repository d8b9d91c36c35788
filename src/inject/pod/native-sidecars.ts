import type { NativeSidecars } from '../../api/injector-config/injection-settings.ts';
import type { NodeFacts } from '../injection-request.ts';

/** The first kubelet 1.x version whose native sidecars Istio trusts. */
const firstMinor = 33;

/**
 * Reports whether the proxy becomes a native sidecar. Auto: true when the pod's node (if unknown,
 * every node) runs kubelet 1.33 or newer; false for unreadable versions or no nodes.
 */
export function useNativeSidecars(
  mode: NativeSidecars,
  nodes: readonly NodeFacts[] | undefined,
  nodeName: string | undefined,
): boolean {
  if (mode !== 'Auto') return mode === 'Enabled';
  if (nodes === undefined || nodes.length === 0) return false;
  const own = nodeName === undefined ? undefined : nodes.find((node) => node.name === nodeName);
  return (own === undefined ? nodes : [own]).every(isNewEnough);
}

function isNewEnough({ kubeletVersion }: NodeFacts): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(kubeletVersion) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= firstMinor);
}
