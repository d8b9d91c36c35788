import type { NamespaceMetadata } from '../injection-request.ts';
import { containersOf, findContainer, initContainersOf, noStrings, replaceContainer, type Pod } from './pod.ts';
import { initContainer, proxyContainer, validationContainer } from './proxy-container.ts';
import { without } from './without.ts';

/** The proxy's user and group (`.ProxyUID`, `.ProxyGID`) for which Istio's images are built. */
export const defaultProxyIds = { user: 1337, group: 1337 };

export type ProxyIds = Readonly<typeof defaultProxyIds>;

const userRange = 'openshift.io/sa.scc.uid-range';
const groupRange = 'openshift.io/sa.scc.supplemental-groups';
/** The annotations of namespaces that determine the proxy's ids. */
export const rangeAnnotations: readonly string[] = [userRange, groupRange];

/** Returns the highest ids of the namespace's ranges, which differ from the application's ids. */
export function openShiftProxyIds(namespace: NamespaceMetadata | undefined): ProxyIds {
  const annotations = namespace?.annotations ?? noStrings;
  const users = annotations[userRange] ?? '';
  const groups = annotations[groupRange] ?? users;
  const blocks = groups.split(',').map(endOfBlock);
  return {
    user: endOfBlock(users) ?? defaultProxyIds.user,
    group: (blocks.includes(undefined) ? undefined : blocks[0]) ?? defaultProxyIds.group,
  };
}

/** Returns the last id of `<start>/<size>` or `<start>-<end>`, unsigned 32-bit integers. */
function endOfBlock(text: string): number | undefined {
  const [, start, separator, other] = /^\s*(\d+)([/-])(\d+)/.exec(text) ?? [];
  if (start === undefined || other === undefined) return undefined;
  const numbers = [Number(start), Number(other)] as const;
  if (numbers.some((number) => number > 0xffffffff)) return undefined;
  return separator === '/' ? (numbers[0] + numbers[1] - 1) >>> 0 : numbers[1];
}

/**
 * Removes the proxy container's user if it equals the application's user: OpenShift assigned it.
 * This user would override the template's, and application traffic would look like the proxy's.
 */
export function withoutAssignedProxyUser(pod: Pod): Pod {
  const proxy = findContainer(pod, proxyContainer);
  if (proxy?.securityContext === undefined) return pod;
  const proxyUser = proxy.securityContext.runAsUser ?? 0;
  const applications = [...containersOf(pod), ...initContainersOf(pod)].filter(
    ({ name }) => ![proxyContainer, validationContainer, initContainer].includes(name),
  );
  const applicationUser =
    applications.findLast(({ securityContext }) => securityContext?.runAsUser !== undefined)?.securityContext
      ?.runAsUser ?? 0;
  if (proxyUser !== applicationUser) return pod;
  return replaceContainer(pod, proxy, {
    ...proxy,
    securityContext: without(proxy.securityContext, 'runAsUser', 'runAsGroup'),
  });
}
