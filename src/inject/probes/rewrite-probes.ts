import { mapContainers, type Container, type Handler, type Pod, type Probe } from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { without } from '../pod/without.ts';
import type { InboundPorts } from './inbound-ports.ts';
import { proberPaths } from './prober-paths.ts';

/** A pod whose probes and hooks go to the agent's status port, over HTTP, instead of to the application. */
export function rewriteProbes(pod: Pod, statusPort: number, ports: InboundPorts): Pod {
  return mapContainers(pod, (container) =>
    container.name === proxyContainer ? container : rewriteContainer(container, statusPort, ports),
  );
}

function rewriteContainer(container: Container, statusPort: number, ports: InboundPorts): Container {
  const paths = proberPaths(container.name);
  const { readinessProbe, livenessProbe, startupProbe, lifecycle } = container;
  if (
    readinessProbe === undefined &&
    livenessProbe === undefined &&
    startupProbe === undefined &&
    lifecycle === undefined
  )
    return container;
  const rewrite = <Kind extends Handler>(handler: Kind, path: string): Kind =>
    ports(portOf(handler)) ? rewriteHandler(handler, path, statusPort) : handler;
  const probe = (handler: Probe, path: string): Probe => rewrite(handler, path);
  // A hook has no gRPC form.
  const hook = (handler: Handler, path: string): Handler =>
    handler.httpGet === undefined && handler.tcpSocket === undefined ? handler : rewrite(handler, path);
  return {
    ...container,
    ...(readinessProbe && { readinessProbe: probe(readinessProbe, paths.readiness) }),
    ...(livenessProbe && { livenessProbe: probe(livenessProbe, paths.liveness) }),
    ...(startupProbe && { startupProbe: probe(startupProbe, paths.startup) }),
    ...(lifecycle && {
      lifecycle: {
        ...lifecycle,
        ...(lifecycle.preStop && { preStop: hook(lifecycle.preStop, paths.preStop) }),
        ...(lifecycle.postStart && { postStart: hook(lifecycle.postStart, paths.postStart) }),
      },
    }),
  };
}

/** A name that could not be resolved is no port at all. */
function portOf({ httpGet, tcpSocket, grpc }: Handler): number {
  const port = httpGet?.port ?? tcpSocket?.port ?? grpc?.port;
  return typeof port === 'number' ? port : 0;
}

function rewriteHandler<Kind extends Handler>(handler: Kind, path: string, port: number): Kind {
  if (handler.httpGet !== undefined) {
    // The agent speaks TLS to the application where it has to; the kubelet speaks plain HTTP to the agent.
    const scheme = handler.httpGet.scheme === 'HTTPS' ? { scheme: 'HTTP' } : {};
    return { ...handler, httpGet: { ...handler.httpGet, path, port, ...scheme } };
  }
  if (handler.tcpSocket !== undefined) return { ...without(handler, 'tcpSocket'), httpGet: { path, port } };
  if (handler.grpc !== undefined) return { ...without(handler, 'grpc'), httpGet: { path, port } };
  return handler;
}
