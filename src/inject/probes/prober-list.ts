import { compareStrings } from '../../template/go-string.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { containersOf, initContainersOf, type Handler, type Pod } from '../pod/pod.ts';
import { encodeGoJson } from '../pod/go-json.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { proberPaths } from './prober-paths.ts';

/** What the agent does for one probe or hook, as JSON text. */
export type ProberList = ReadonlyMap<string, string>;

const httpGetType = podStruct('v1.HTTPGetAction');
const tcpSocketType = podStruct('v1.TCPSocketAction');
const grpcType = podStruct('v1.GRPCAction');

/**
 * The probes and hooks of a pod that the agent has to take over, by the path under which it does. Those that lead
 * to the agent already are left out. The pod's named ports are resolved.
 */
export function listProbers(pod: Pod, statusPort: number): ProberList {
  const probers = new Map<string, string>();
  const add = (path: string, handler: Handler | undefined, timeoutSeconds: unknown): void => {
    const prober = handler === undefined ? undefined : describeProber(handler, timeoutSeconds, statusPort);
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
  statusPort: number,
): string | undefined {
  // A port that is still a name belongs to nothing the agent could call.
  const callable = (port: number | string): boolean => typeof port === 'number' && port !== statusPort;
  const timeout =
    typeof timeoutSeconds === 'number' && timeoutSeconds !== 0 ? `,"timeoutSeconds":${timeoutSeconds}` : '';
  if (httpGet !== undefined) {
    return callable(httpGet.port) ? `{"httpGet":${encodeGoJson(httpGetType, httpGet)}${timeout}}` : undefined;
  }
  if (tcpSocket !== undefined) {
    return callable(tcpSocket.port) ? `{"tcpSocket":${encodeGoJson(tcpSocketType, tcpSocket)}${timeout}}` : undefined;
  }
  return grpc === undefined ? undefined : `{"grpc":${encodeGoJson(grpcType, grpc)}${timeout}}`;
}
