import {
  annotationOf,
  findContainer,
  initContainersOf,
  replaceContainer,
  type Container,
  type Pod,
  type SecurityContext,
} from '../pod/pod.ts';
import { initContainer, proxyContainer, validationContainer } from '../pod/proxy-container.ts';

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
  const flag = container.args?.indexOf('-u') ?? -1;
  if (flag < 0 || container.args === undefined || flag + 1 >= container.args.length) return container;
  return { ...container, args: container.args.with(flag + 1, String(user)) };
}
