import { parseBool } from '../annotations/annotation-values.ts';
import { variable } from '../finish/environment-and-metadata.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { encodeGoJson } from '../pod/go-json.ts';
import { isJsonObject } from '../patch/json-value.ts';
import {
  annotationOf,
  findContainer,
  replaceContainer,
  type EnvironmentVariable,
  type Pod,
  mapContainers,
  type Handler,
} from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { encodeProbers, listProbers, mapHandlers, type ContainerHandler, type ProberList } from './handlers.ts';
import { without } from '../pod/without.ts';

const probersVariable = 'ISTIO_KUBE_APP_PROBERS';

/** What taking over depends on beside the pod. */
export interface ProbeSettings {
  /** What counts where the pod has no say. */
  readonly rewriteByDefault: boolean;
  /** The agent's port in the mesh. */
  readonly statusPort: number;
  /** The annotation that tells whether the pod was injected before. */
  readonly statusKey: string;
}

/**
 * Lets the proxy's agent answer the kubelet's probes and hooks: with mutual TLS the kubelet could not reach the application. The agent
 * learns the original ones from its environment. Without a proxy nothing happens.
 */
export function takeOverProbes(pod: Pod, settings: ProbeSettings): Pod {
  if (findContainer(pod, proxyContainer) === undefined || !isRewriteWanted(pod, settings.rewriteByDefault)) return pod;
  let result = pod;
  const probers = listProbers(pod, settings.statusPort);
  const proxy = findContainer(pod, proxyContainer);
  if (proxy !== undefined && probers.size > 0) {
    const again = annotationOf(pod, settings.statusKey) !== undefined;
    result = replaceContainer(result, proxy, { ...proxy, env: addProbers(again, proxy.env ?? [], probers) });
  }
  return rewriteProbes(result, statusPortOf(pod, settings.statusPort));
}

/** The pod's annotation, where it is a boolean, else the default. */
export function isRewriteWanted(pod: Pod, byDefault: boolean): boolean {
  const own = annotationOf(pod, 'sidecar.istio.io/rewriteAppHTTPProbers');
  return (own === undefined ? undefined : parseBool(own)) ?? byDefault;
}

/** The annotation moves the port for the rewritten probes only. */
function statusPortOf(pod: Pod, meshPort: number): number {
  const own = annotationOf(pod, 'status.sidecar.istio.io/port');
  if (own === undefined) return meshPort;
  return /^[+-]?\d+$/.test(own) ? Number(own) : 0;
}

/** The proxy's environment with the probers; what an earlier injection wrote down wins over what is found now. */
export function addProbers(
  again: boolean,
  env: readonly EnvironmentVariable[],
  probers: ProberList,
): readonly EnvironmentVariable[] {
  const known = again ? env.findIndex(({ name }) => name === probersVariable) : -1;
  if (known < 0) return [...env, variable(probersVariable, encodeProbers(probers))];
  const earlier = readProbers(env[known]?.value ?? '');
  if (earlier === undefined) return env;
  const merged = new Map([...probers, ...earlier]);
  return env.map((entry, index) => (index === known ? variable(probersVariable, encodeProbers(merged)) : entry));
}

function readProbers(text: string): ProberList | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return new Map();
    return isJsonObject(value)
      ? new Map(Object.entries(value).map(([path, prober]) => [path, encodeProber(prober)]))
      : undefined;
  } catch {
    return undefined;
  }
}

const probeType = podStruct('v1.Probe');
const proberMembers = /^(httpGet|tcpSocket|grpc|timeoutSeconds)$/i;

/** A prober as Go's encoding/json reads and writes it. @throws when it is none */
function encodeProber(prober: unknown): string {
  if (prober === null) return 'null';
  const members = isJsonObject(prober)
    ? Object.fromEntries(Object.entries(prober).filter(([name]) => proberMembers.test(name)))
    : prober;
  return encodeGoJson(probeType, normalisePod(members, probeType));
}

/** A pod whose probes and hooks go to the agent's status port, over HTTP, instead of to the application. */
export function rewriteProbes(pod: Pod, statusPort: number): Pod {
  return mapContainers(pod, (container) =>
    container.name === proxyContainer
      ? container
      : mapHandlers(container, (place) => rewriteHandler(place, statusPort)),
  );
}

function rewriteHandler({ handler, path, kind }: ContainerHandler, port: number): Handler {
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
