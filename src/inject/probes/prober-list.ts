import { compareStrings } from '../../template/go-string.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { containersOf, initContainersOf, type Handler, type Pod } from '../pod/pod.ts';
import { encodeGoJson } from '../pod/go-json.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import type { InboundPorts } from './inbound-ports.ts';
import { proberPaths } from './prober-paths.ts';

/** What the agent does for one probe or hook, as JSON text. */
export type ProberList = ReadonlyMap<string, string>;

const httpGetType = podStruct('v1.HTTPGetAction');
const tcpSocketType = podStruct('v1.TCPSocketAction');
const grpcType = podStruct('v1.GRPCAction');

/** The probes and hooks of a pod that the agent has to take over, by the path under which it does. The pod's named ports are resolved. */
export function listProbers(pod: Pod, ports: InboundPorts): ProberList {
  const probers = new Map<string, string>();
  const add = (path: string, handler: Handler | undefined, timeoutSeconds: unknown): void => {
    const prober = handler === undefined ? undefined : describeProber(handler, timeoutSeconds, ports);
    if (prober !== undefined) probers.set(path, prober);
  };
  for (const container of [...initContainersOf(pod), ...containersOf(pod)]) {
    if (container.name === proxyContainer) continue;
    const paths = proberPaths(container.name);
    const { readinessProbe, livenessProbe, startupProbe, lifecycle } = container;
    add(paths.readiness, readinessProbe, readinessProbe?.timeoutSeconds);
    add(paths.liveness, livenessProbe, livenessProbe?.timeoutSeconds);
    add(paths.startup, startupProbe, startupProbe?.timeoutSeconds);
    add(paths.preStop, lifecycle?.preStop, undefined);
    add(paths.postStart, lifecycle?.postStart, undefined);
  }
  return probers;
}

/** The list as the agent reads it from its environment: one object, keys sorted. */
export function encodeProbers(probers: ProberList): string {
  const paths = [...probers.keys()].sort(compareStrings);
  return `{${paths.map((path) => `${JSON.stringify(path)}:${probers.get(path) ?? 'null'}`).join(',')}}`;
}

function describeProber(
  { httpGet, tcpSocket, grpc }: Handler,
  timeoutSeconds: unknown,
  ports: InboundPorts,
): string | undefined {
  const timeout =
    typeof timeoutSeconds === 'number' && timeoutSeconds !== 0 ? `,"timeoutSeconds":${timeoutSeconds}` : '';
  if (httpGet !== undefined)
    return isTaken(httpGet.port, ports) ? `{"httpGet":${encodeGoJson(httpGetType, httpGet)}${timeout}}` : undefined;
  if (tcpSocket !== undefined) {
    return isTaken(tcpSocket.port, ports)
      ? `{"tcpSocket":${encodeGoJson(tcpSocketType, tcpSocket)}${timeout}}`
      : undefined;
  }
  return grpc !== undefined && ports(grpc.port) ? `{"grpc":${encodeGoJson(grpcType, grpc)}${timeout}}` : undefined;
}

/** A port that is still a name belongs to nothing the agent could call. */
function isTaken(port: number | string, ports: InboundPorts): boolean {
  return typeof port === 'number' && ports(port);
}
