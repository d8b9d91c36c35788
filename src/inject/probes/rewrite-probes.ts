import { mapContainers, type Handler, type Pod } from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { without } from '../pod/without.ts';
import { mapHandlers } from './map-handlers.ts';

/** A pod whose probes and hooks go to the agent's status port, over HTTP, instead of to the application. */
export function rewriteProbes(pod: Pod, statusPort: number): Pod {
  return mapContainers(pod, (container) => {
    if (container.name === proxyContainer) return container;
    return mapHandlers(container, (handler, path, kind) => rewriteHandler(handler, path, kind, statusPort));
  });
}

function rewriteHandler(handler: Handler, path: string, kind: 'probe' | 'hook', port: number): Handler {
  if (handler.httpGet !== undefined) {
    // The agent speaks TLS to the application where it has to; the kubelet speaks plain HTTP to the agent.
    const scheme = handler.httpGet.scheme === 'HTTPS' ? { scheme: 'HTTP' } : {};
    return { ...handler, httpGet: { ...handler.httpGet, path, port, ...scheme } };
  }
  if (handler.tcpSocket !== undefined) return { ...without(handler, 'tcpSocket'), httpGet: { path, port } };
  // A hook has no gRPC form.
  if (handler.grpc !== undefined && kind === 'probe') return { ...without(handler, 'grpc'), httpGet: { path, port } };
  return handler;
}
