import { compareStrings } from '../../template/go-string.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { containersOf, initContainersOf, type Container, type Handler, type Pod } from '../pod/pod.ts';
import { encodeGoJson } from '../pod/go-json.ts';
import { proxyContainer } from '../pod/proxy-container.ts';

/** A probe or hook of a container. */
export interface ContainerHandler {
  readonly field: 'readinessProbe' | 'livenessProbe' | 'startupProbe' | 'preStop' | 'postStart';
  readonly kind: 'probe' | 'hook';
  /** The path at which the proxy's agent serves the probe or hook. */
  readonly path: string;
  readonly handler: Handler;
}

/** The fields of handlers, with the parts of the path at which the agent serves each. */
export const handlerFields = [
  ['readinessProbe', 'probe', 'app-health', 'readyz'],
  ['livenessProbe', 'probe', 'app-health', 'livez'],
  ['startupProbe', 'probe', 'app-health', 'startupz'],
  ['preStop', 'hook', 'app-lifecycle', 'prestopz'],
  ['postStart', 'hook', 'app-lifecycle', 'poststartz'],
] as const;

function handlersOf(container: Container): ContainerHandler[] {
  const { readinessProbe, livenessProbe, startupProbe, lifecycle } = container;
  // Fast path: most containers have no handlers, and an injection calls this function three times.
  if ((readinessProbe ?? livenessProbe ?? startupProbe ?? lifecycle) === undefined) return [];
  const present = { readinessProbe, livenessProbe, startupProbe, ...lifecycle };
  return handlerFields.flatMap(([field, kind, root, name]) => {
    const handler = present[field];
    return handler === undefined ? [] : [{ field, kind, path: `/${root}/${container.name}/${name}`, handler }];
  });
}

/** Changes a container's probes and hooks; returns the container itself if nothing changes. */
export function mapHandlers(container: Container, change: (target: ContainerHandler) => Handler): Container {
  let { lifecycle } = container;
  const probes: Record<string, Handler> = {};
  for (const target of handlersOf(container)) {
    const changed = change(target);
    if (changed === target.handler) continue;
    if (target.kind === 'probe') probes[target.field] = changed;
    else lifecycle = { ...lifecycle, [target.field]: changed };
  }
  if (lifecycle !== container.lifecycle) return { ...container, ...probes, ...(lifecycle && { lifecycle }) };
  return Object.keys(probes).length === 0 ? container : { ...container, ...probes };
}

/** The agent's descriptions of original probes and hooks: JSON text by URL path. */
export type ProberList = ReadonlyMap<string, string>;

const httpGetType = podStruct('v1.HTTPGetAction');
const tcpSocketType = podStruct('v1.TCPSocketAction');
const grpcType = podStruct('v1.GRPCAction');

/** Returns the probes and hooks for the agent, by URL path (Istio's DumpAppProbers). */
export function listProbers(pod: Pod, statusPort: number): ProberList {
  const probers = new Map<string, string>();
  for (const container of [...initContainersOf(pod), ...containersOf(pod)]) {
    if (container.name === proxyContainer) continue;
    for (const { path, handler } of handlersOf(container)) {
      const prober = describeProber(handler, container, statusPort);
      if (prober !== undefined) probers.set(path, prober);
    }
  }
  return probers;
}

/** Encodes probers for the agent's environment: one object with sorted keys. */
export function encodeProbers(probers: ProberList): string {
  const sorted = [...probers].sort(([left], [right]) => compareStrings(left, right));
  return `{${sorted.map(([path, prober]) => `${JSON.stringify(path)}:${prober}`).join(',')}}`;
}

function describeProber(handler: Handler, container: Container, statusPort: number): string | undefined {
  const { httpGet, tcpSocket, grpc, timeoutSeconds } = handler;
  const timeout =
    typeof timeoutSeconds === 'number' && timeoutSeconds !== 0 ? `,"timeoutSeconds":${timeoutSeconds}` : '';
  const action = httpGet ?? tcpSocket;
  if (action === undefined) return grpc && `{"grpc":${encodeGoJson(grpcType, grpc)}${timeout}}`;
  const port = targetPort(action.port, container, statusPort);
  if (port === undefined) return undefined;
  return httpGet === undefined
    ? `{"tcpSocket":${encodeGoJson(tcpSocketType, { ...action, port })}${timeout}}`
    : `{"httpGet":${encodeGoJson(httpGetType, { ...action, port })}${timeout}}`;
}

/**
 * Returns the number of a handler's port. Returns `undefined` for the agent's port, which an
 * earlier injection set, and for unknown names. A quoted number is a number, as in the kubelet.
 */
function targetPort(port: number | string, { ports }: Container, statusPort: number): number | undefined {
  const named = port === '' ? undefined : ports?.findLast(({ name }) => name === port);
  if (named !== undefined) return named.containerPort;
  if (typeof port === 'string' && !(/^[+-]?\d+$/.test(port) && Math.abs(Number(port)) < 2 ** 31)) return undefined;
  return Number(port) === statusPort ? undefined : Number(port);
}
