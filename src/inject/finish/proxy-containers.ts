import {
  annotationOf,
  findContainer,
  initContainersOf,
  replaceContainer,
  type Container,
  type Pod,
  type SecurityContext,
  containersOf,
  withContainers,
  withInitContainers,
} from '../pod/pod.ts';
import { initContainer, proxyContainer, validationContainer, coreDumpContainer } from '../pod/proxy-container.ts';

const nativeProxyOrder = [initContainer, validationContainer, proxyContainer, coreDumpContainer];

/**
 * Orders the proxy's containers like Istio's reorderPod. The proxy is last, so that `kubectl exec`
 * selects the application, or first if the proxy delays the application. A native proxy comes after
 * the network setup and before all other init containers; without one, these precede the setup.
 */
export function orderContainers(pod: Pod, holdApplication: boolean): Pod {
  const ordered = withContainers(pod, (holdApplication ? moveFirst : moveLast)(containersOf(pod), proxyContainer));
  const initContainers = initContainersOf(pod);
  const native = initContainers.some(({ name }) => name === proxyContainer);
  if (native) return withInitContainers(ordered, moveAllFirst(initContainers, nativeProxyOrder));
  const network = moveLast(moveFirst(initContainers, validationContainer), initContainer);
  return withInitContainers(ordered, moveLast(network, coreDumpContainer));
}

/** Returns the named containers in order, then the other containers. Keeps the last duplicate. */
function moveAllFirst(containers: readonly Container[], names: readonly string[]): readonly Container[] {
  const moved = new Map<string, Container | undefined>(names.map((name) => [name, undefined]));
  const others: Container[] = [];
  for (const container of containers) {
    if (moved.has(container.name)) moved.set(container.name, container);
    else others.push(container);
  }
  return [...[...moved.values()].filter((container) => container !== undefined), ...others];
}

function moveFirst(containers: readonly Container[], name: string): readonly Container[] {
  const moved = containers.findLast((container) => container.name === name);
  return moved === undefined ? containers : [moved, ...containers.filter((container) => container.name !== name)];
}

function moveLast(containers: readonly Container[], name: string): readonly Container[] {
  const moved = containers.findLast((container) => container.name === name);
  return moved === undefined ? containers : [...containers.filter((container) => container.name !== name), moved];
}

/**
 * Gives the network setup the user and group of the proxy in `original`, the pod before injection.
 * The setup exempts that user's traffic. In mode TPROXY, the proxy itself runs as root.
 */
export function adjustInitContainerUser(pod: Pod, original: Pod, interceptionMode: unknown): Pod {
  const { runAsUser, runAsGroup } = findContainer(original, proxyContainer)?.securityContext ?? {};
  if (runAsUser === undefined && runAsGroup === undefined) return pod;
  const setup = [initContainer, validationContainer]
    .map((name) => initContainersOf(pod).find((container) => container.name === name))
    .find((container) => container !== undefined);
  if (setup === undefined) return pod;
  const transparent =
    interceptionMode === 'TPROXY' || annotationOf(pod, 'sidecar.istio.io/interceptionMode') === 'TPROXY';
  let result = pod;
  if (transparent && runAsUser !== undefined) {
    const proxy = findContainer(pod, proxyContainer);
    if (proxy === undefined) return pod;
    result = replaceContainer(result, proxy, withSecurityContext(proxy, { runAsUser: 0 }));
  }
  let adjusted = setup;
  if (!transparent && setup.name === validationContainer) {
    adjusted = withSecurityContext(setup, {
      ...(runAsUser !== undefined && { runAsUser }),
      ...(runAsGroup !== undefined && { runAsGroup }),
    });
  }
  // A rule for user 0 would exempt all processes that run as root.
  if (runAsUser !== undefined && runAsUser !== 0) adjusted = withUserArgument(adjusted, runAsUser);
  return adjusted === setup ? result : replaceContainer(result, setup, adjusted);
}

function withSecurityContext(container: Container, changes: SecurityContext): Container {
  return { ...container, securityContext: { ...container.securityContext, ...changes } };
}

/** Replaces the argument after `-u`, the user whose traffic is exempt. */
function withUserArgument(container: Container, user: number): Container {
  const { args = [] } = container;
  const index = args.indexOf('-u') + 1;
  if (index === 0 || index >= args.length) return container;
  return { ...container, args: args.with(index, String(user)) };
}
