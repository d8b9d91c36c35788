import { mapContainers, type Container, type Handler, type Pod, type Probe } from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';

/**
 * A pod whose probes and hooks name no ports: the agent calls them by number. A name is one of the container's ports or a number in quotes;
 * any other stays, and so does one whose number `wanted` does not accept.
 */
export function resolveNamedPorts(pod: Pod, wanted: (port: number) => boolean): Pod {
  return mapContainers(pod, (container) =>
    container.name === proxyContainer ? container : resolveContainer(container, wanted),
  );
}

function resolveContainer(container: Container, wanted: (port: number) => boolean): Container {
  const resolve = <Kind extends Handler>(handler: Kind | undefined): Kind | undefined =>
    handler === undefined ? undefined : resolveHandler(handler, container, wanted);
  const changes: { -readonly [Name in 'readinessProbe' | 'livenessProbe' | 'startupProbe']?: Probe } = {};
  for (const name of ['readinessProbe', 'livenessProbe', 'startupProbe'] as const) {
    const resolved = resolve(container[name]);
    if (resolved !== undefined && resolved !== container[name]) changes[name] = resolved;
  }
  const { lifecycle } = container;
  const preStop = resolve(lifecycle?.preStop);
  const postStart = resolve(lifecycle?.postStart);
  const hooks = preStop !== lifecycle?.preStop || postStart !== lifecycle?.postStart;
  if (!hooks && Object.keys(changes).length === 0) return container;
  return {
    ...container,
    ...changes,
    ...(hooks && { lifecycle: { ...lifecycle, ...(preStop && { preStop }), ...(postStart && { postStart }) } }),
  };
}

function resolveHandler<Kind extends Handler>(
  handler: Kind,
  container: Container,
  wanted: (port: number) => boolean,
): Kind {
  const action = handler.httpGet ?? handler.tcpSocket;
  if (action === undefined || typeof action.port !== 'string' || handler.grpc !== undefined) return handler;
  const port = portNumber(action.port, container);
  if (port === undefined || !wanted(port)) return handler;
  return { ...handler, [handler.httpGet === undefined ? 'tcpSocket' : 'httpGet']: { ...action, port } };
}

function portNumber(name: string, container: Container): number | undefined {
  const named = container.ports?.find((port) => port.name === name)?.containerPort ?? 0;
  if (named > 0) return named;
  return /^[+-]?\d+$/.test(name) && Math.abs(Number(name)) < 2 ** 31 ? Number(name) : undefined;
}
