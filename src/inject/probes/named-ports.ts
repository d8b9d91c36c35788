import { mapContainers, type Container, type Handler, type Pod } from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { mapHandlers } from './map-handlers.ts';

/**
 * A pod whose probes and hooks name no ports: the agent calls them by number. A name is one of the container's ports or a number in quotes;
 * any other stays.
 */
export function resolveNamedPorts(pod: Pod): Pod {
  return mapContainers(pod, (container) =>
    container.name === proxyContainer
      ? container
      : mapHandlers(container, (handler) => resolveHandler(handler, container)),
  );
}

function resolveHandler(handler: Handler, container: Container): Handler {
  const action = handler.httpGet ?? handler.tcpSocket;
  if (action === undefined || typeof action.port !== 'string') return handler;
  const port = portNumber(action.port, container);
  if (port === undefined) return handler;
  return { ...handler, [handler.httpGet === undefined ? 'tcpSocket' : 'httpGet']: { ...action, port } };
}

function portNumber(name: string, container: Container): number | undefined {
  const named = container.ports?.find((port) => port.name === name)?.containerPort ?? 0;
  if (named > 0) return named;
  return /^[+-]?\d+$/.test(name) && Math.abs(Number(name)) < 2 ** 31 ? Number(name) : undefined;
}
