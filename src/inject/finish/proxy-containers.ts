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

const aroundNativeProxy = [initContainer, validationContainer, proxyContainer, coreDumpContainer];

/**
 * Puts the proxy's containers where they belong (Istio's reorderPod). The proxy is the last container, so that `kubectl exec` goes to the application, or the
 * first one when the application is held until it runs. A native proxy follows what sets up the network and precedes all other init
 * containers; without one the network is set up last, so that init containers still have it.
 */
export function orderContainers(pod: Pod, holdApplication: boolean): Pod {
  const ordered = withContainers(pod, (holdApplication ? moveFirst : moveLast)(containersOf(pod), proxyContainer));
  const initContainers = initContainersOf(pod);
  const native = initContainers.some(({ name }) => name === proxyContainer);
  if (native) return withInitContainers(ordered, moveAllFirst(initContainers, aroundNativeProxy));
  const network = moveLast(moveFirst(initContainers, validationContainer), initContainer);
  return withInitContainers(ordered, moveLast(network, coreDumpContainer));
}

/** The containers of these names, in this order, and then the others; of several with one name the last is kept. */
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
 * When the proxy container of the pod before injection, `original`, names a user or group, the container that sets up the network must know: its
 * rules let the proxy's traffic out by user. In mode TPROXY the proxy stays root.
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
  // Rules for user 0 would match everything that runs as root.
  if (runAsUser !== undefined && runAsUser !== 0) adjusted = withUserArgument(adjusted, runAsUser);
  return adjusted === setup ? result : replaceContainer(result, setup, adjusted);
}

function withSecurityContext(container: Container, changes: SecurityContext): Container {
  return { ...container, securityContext: { ...container.securityContext, ...changes } };
}

/** The argument after `-u` is the user whose traffic the rules let pass. */
function withUserArgument(container: Container, user: number): Container {
  const { args = [] } = container;
  const place = args.indexOf('-u') + 1;
  if (place === 0 || place >= args.length) return container;
  return { ...container, args: args.with(place, String(user)) };
}
