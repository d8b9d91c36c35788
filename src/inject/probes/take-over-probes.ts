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

/** The pod-independent inputs. */
export interface ProbeSettings {
  /** Whether to rewrite the probes of a pod without the annotation. */
  readonly rewriteByDefault: boolean;
  /** The agent's port in the mesh config. */
  readonly statusPort: number;
  /** The key of the annotation that shows an earlier injection. */
  readonly statusKey: string;
}

/**
 * Redirects the kubelet's probes and hooks to the proxy's agent: the kubelet cannot use mutual TLS.
 * The agent reads the originals from its environment. Does nothing if there is no proxy.
 */
export function takeOverProbes(pod: Pod, settings: ProbeSettings): Pod {
  if (findContainer(pod, proxyContainer) === undefined || !isRewriteEnabled(pod, settings.rewriteByDefault)) return pod;
  let result = pod;
  const probers = listProbers(pod, settings.statusPort);
  const proxy = findContainer(pod, proxyContainer);
  if (proxy !== undefined && probers.size > 0) {
    const injectedBefore = annotationOf(pod, settings.statusKey) !== undefined;
    result = replaceContainer(result, proxy, { ...proxy, env: addProbers(injectedBefore, proxy.env ?? [], probers) });
  }
  return rewriteProbes(result, statusPortOf(pod, settings.statusPort));
}

/** Returns the value of the pod's annotation if it is a boolean, or else the default. */
export function isRewriteEnabled(pod: Pod, byDefault: boolean): boolean {
  const own = annotationOf(pod, 'sidecar.istio.io/rewriteAppHTTPProbers');
  return (own === undefined ? undefined : parseBool(own)) ?? byDefault;
}

/** Returns the port for rewritten probes, which an annotation can change. */
function statusPortOf(pod: Pod, meshPort: number): number {
  const own = annotationOf(pod, 'status.sidecar.istio.io/port');
  if (own === undefined) return meshPort;
  return /^[+-]?\d+$/.test(own) ? Number(own) : 0;
}

/** Adds the probers to the proxy's environment. Probers from an earlier injection win. */
export function addProbers(
  injectedBefore: boolean,
  env: readonly EnvironmentVariable[],
  probers: ProberList,
): readonly EnvironmentVariable[] {
  const known = injectedBefore ? env.findIndex(({ name }) => name === probersVariable) : -1;
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

/** Normalizes a prober like Go's encoding/json. @throws if the value is not a prober */
function encodeProber(prober: unknown): string {
  if (prober === null) return 'null';
  const members = isJsonObject(prober)
    ? Object.fromEntries(Object.entries(prober).filter(([name]) => proberMembers.test(name)))
    : prober;
  return encodeGoJson(probeType, normalisePod(members, probeType));
}

/** Directs all probes and hooks to the agent's status port over HTTP. */
export function rewriteProbes(pod: Pod, statusPort: number): Pod {
  return mapContainers(pod, (container) =>
    container.name === proxyContainer
      ? container
      : mapHandlers(container, (target) => rewriteHandler(target, statusPort)),
  );
}

function rewriteHandler({ handler, path, kind }: ContainerHandler, port: number): Handler {
  if (handler.httpGet !== undefined) {
    // The kubelet uses plain HTTP to the agent; the agent uses TLS to the application if needed.
    const scheme = handler.httpGet.scheme === 'HTTPS' ? { scheme: 'HTTP' } : {};
    return { ...handler, httpGet: { ...handler.httpGet, path, port, ...scheme } };
  }
  if (handler.tcpSocket !== undefined) return { ...without(handler, 'tcpSocket'), httpGet: { path, port } };
  // Kubernetes has no gRPC hooks.
  if (handler.grpc !== undefined && kind === 'probe') return { ...without(handler, 'grpc'), httpGet: { path, port } };
  return handler;
}
