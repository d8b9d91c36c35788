import {
  containersOf,
  initContainersOf,
  withContainers,
  withInitContainers,
  type Container,
  type Pod,
} from '../pod/pod.ts';
import { coreDumpContainer, initContainer, proxyContainer, validationContainer } from '../pod/proxy-container.ts';

const aroundNativeProxy = [initContainer, validationContainer, proxyContainer, coreDumpContainer];

/**
 * Puts the proxy's containers where they belong (Istio's reorderPod). The proxy is the last container, so that `kubectl exec` goes to the application, or the
 * first one when the application is held until it runs. A native proxy follows what sets up the network and precedes all other init
 * containers; without one the network is set up last, so that init containers still have it.
 */
export function orderContainers(pod: Pod, holdApplication: boolean): Pod {
  const ordered = withContainers(pod, (holdApplication ? moveFirst : moveLast)(containersOf(pod), proxyContainer));
  const initContainers = initContainersOf(pod);
  if (initContainers.length === 0) return ordered;
  const native = initContainers.some(({ name }) => name === proxyContainer);
  if (native) return withInitContainers(ordered, moveAllFirst(initContainers, aroundNativeProxy));
  return withInitContainers(ordered, orderWithoutNativeProxy(initContainers));
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

function orderWithoutNativeProxy(initContainers: readonly Container[]): readonly Container[] {
  return moveLast(moveLast(moveFirst(initContainers, validationContainer), initContainer), coreDumpContainer);
}

function moveFirst(containers: readonly Container[], name: string): readonly Container[] {
  const moved = containers.findLast((container) => container.name === name);
  return moved === undefined ? containers : [moved, ...containers.filter((container) => container.name !== name)];
}

function moveLast(containers: readonly Container[], name: string): readonly Container[] {
  const moved = containers.findLast((container) => container.name === name);
  return moved === undefined ? containers : [...containers.filter((container) => container.name !== name), moved];
}
