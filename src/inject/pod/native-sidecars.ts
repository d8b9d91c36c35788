import type { NativeSidecars } from '../../api/injector-config/injection-settings.ts';
import type { NodeFacts } from '../injection-request.ts';

/** Istio trusts native sidecars from this kubelet on. */
const firstMinor = 33;

/**
 * Whether the proxy becomes a native sidecar (an init container that keeps running). Auto: yes when the pod's node, or every node when it
 * is not known, runs kubelet 1.33 or newer; unknown versions and no nodes at all mean no.
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
