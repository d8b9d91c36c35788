import { podStruct } from '../../src/inject/kubernetes/pod-schema.ts';
import { normalisePod } from '../../src/inject/kubernetes/typed-pod.ts';
import type { EnvironmentVariable } from '../../src/inject/pod/pod.ts';
import { addProbers } from '../../src/inject/probes/take-over-probes.ts';
import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';
import { firstDifference, type Mismatch } from './conformance-case.ts';
import type { Setting } from './golden.ts';

/** The inputs of a deliberate difference. */
export interface PodContext {
  readonly setting: Setting;
  /** The pod of the request. */
  readonly pod: JsonObject;
  /** Whether a template of the configuration contains Istio's proxy. */
  readonly proxy: boolean;
}

/** A class of rows in which the engine deliberately differs from Istio. */
export interface PodDifference {
  readonly name: string;
  readonly reason: string;
  /** Whether the class may contain many rows. */
  readonly common?: true;
  /** Reports whether a row belongs to the class, independent of the engine's result. */
  readonly applies: (context: PodContext) => boolean;
  /** Returns a result (a pod, or `{ message }` for a denial) without the differing parts. */
  readonly without: (result: JsonObject, context: PodContext) => JsonObject;
}

export const podDifferences: readonly PodDifference[] = [
  {
    name: 'no-mesh-configuration',
    reason:
      'Without a mesh configuration, which only tests can omit, Istio directs Prometheus to port 0. This project uses the defaults, as Istio does for an empty ConfigMap.',
    applies: ({ setting }) => setting.mesh === '',
    without: (result) => withoutAnnotations(result, (name) => name === 'prometheus.io/port'),
  },
  {
    name: 'metrics-without-proxy',
    reason:
      'Istio directs Prometheus to the proxy’s agent even if no template contains a proxy, which only occurs in tests. This project does so only if a template contains a proxy.',
    applies: ({ proxy }) => !proxy,
    without: (result) => withoutAnnotations(result, (name) => name.startsWith('prometheus.io/')),
  },
  {
    name: 'unknown-fields-move',
    reason:
      'Istio’s Kubernetes types lack some fields of containers, and its patch addresses containers by index. When containers move, such a field stays at its index, on another container. In this project the field stays with its container.',
    applies: ({ pod }) => unknownFields(pod).size > 0,
    without: (result, { pod }) => {
      const unknown = unknownFields(pod);
      const known = (container: JsonObject): JsonObject => withoutMembers(container, (name) => unknown.has(name));
      return withSpec(result, { containers: containersOf(result).map(known) });
    },
  },
  {
    name: 'quoted-probe-ports',
    reason:
      'A probe whose port is a number in quotes is valid: the kubelet parses the number. Istio redirects such a probe to its agent without telling the agent the target, so the probe always fails. This project passes the target to the agent.',
    common: true,
    applies: ({ pod }) => quotedPorts(pod).size > 0,
    without: (result, { pod }) => {
      const paths = quotedPorts(pod);
      return withVariables(result, (variable) => unlist(variable, paths));
    },
  },
  {
    name: 'unreadable-overrides',
    reason:
      'If proxy.istio.io/overrides is invalid JSON, Istio denies the pod with the message of Go’s JSON decoder, which names neither the annotation nor the pod. The message of this project names the annotation.',
    applies: ({ pod }) => hasUnreadableOverrides(pod),
    without: (result) => (result.message === undefined ? result : { message: '' }),
  },
  {
    name: 'spelled-twice',
    reason:
      'For Prometheus, prometheus.io/port, prometheus.io.port and prometheus_io_port are the same annotation. If a pod has two of them, Istio reads a random one in each call. This project always reads the last one.',
    applies: ({ pod }) => {
      const names = Object.keys(annotationsOf(pod)).map((name) => name.replace(/[^a-zA-Z0-9_]/g, '_'));
      return names.some((name, index) => name.startsWith('prometheus_') && names.indexOf(name) < index);
    },
    without: (result) =>
      withoutAnnotations(
        withVariables(result, (variable) => (variable.name === 'ISTIO_PROMETHEUS_ANNOTATIONS' ? [] : [variable])),
        (name) => name.startsWith('prometheus'),
      ),
  },
];

const overridesAnnotation = 'proxy.istio.io/overrides';

function withoutMembers(object: JsonObject, drop: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !drop(name)));
}

function annotationsOf({ metadata }: JsonObject): JsonObject {
  return isJsonObject(metadata) && isJsonObject(metadata.annotations) ? metadata.annotations : {};
}

function withoutAnnotations(pod: JsonObject, drop: (name: string) => boolean): JsonObject {
  const metadata = isJsonObject(pod.metadata) ? pod.metadata : {};
  return { ...pod, metadata: { ...metadata, annotations: withoutMembers(annotationsOf(pod), drop) } };
}

function withSpec(result: JsonObject, changes: JsonObject): JsonObject {
  return isJsonObject(result.spec) ? { ...result, spec: { ...result.spec, ...changes } } : result;
}

/** Returns the pod with changed environment variables. */
function withVariables(result: JsonObject, change: (variable: JsonObject) => JsonObject[]): JsonObject {
  const changed = (container: JsonObject): JsonObject => {
    const env = Array.isArray(container.env) ? container.env.filter(isJsonObject).flatMap(change) : [];
    return { ...withoutMembers(container, (name) => name === 'env'), ...(env.length > 0 && { env }) };
  };
  const lists = ['containers', 'initContainers'] as const;
  return withSpec(result, Object.fromEntries(lists.map((list) => [list, containersOf(result, list).map(changed)])));
}

function containersOf({ spec }: JsonObject, list: 'containers' | 'initContainers' = 'containers'): JsonObject[] {
  const containers = isJsonObject(spec) ? spec[list] : [];
  return Array.isArray(containers) ? containers.filter(isJsonObject) : [];
}

/** Returns the fields of containers that Go's type lacks. */
function unknownFields(pod: JsonObject): Set<string> {
  return new Set(
    containersOf(pod).flatMap((container) => {
      const known = normalisePod(container, podStruct('v1.Container'));
      return Object.keys(container).filter((name) => !Object.hasOwn(known, name));
    }),
  );
}

/** Returns the agent's paths for handlers whose port is a number in quotes. */
function quotedPorts(pod: JsonObject): Set<string> {
  const paths = new Set<string>();
  const saved = { spec: parseObject(annotationsOf(pod)[overridesAnnotation]) ?? {} };
  const lists = [pod, saved].flatMap((each) => [containersOf(each), containersOf(each, 'initContainers')]);
  for (const container of lists.flat()) {
    const { readinessProbe, livenessProbe, startupProbe, lifecycle } = container;
    const { preStop, postStart } = isJsonObject(lifecycle) ? lifecycle : {};
    const handlers = { readinessProbe, livenessProbe, startupProbe, preStop, postStart };
    for (const [field, handler] of Object.entries(handlers)) {
      const { httpGet, tcpSocket } = isJsonObject(handler) ? handler : {};
      const action = httpGet ?? tcpSocket;
      const port = isJsonObject(action) ? action.port : undefined;
      if (typeof port !== 'string' || !/^[+-]?\d+$/.test(port)) continue;
      const [root, name] = field.endsWith('Probe')
        ? [
            'app-health',
            `${field.replace(/nessProbe$|Probe$/, '')}z`.replace('readiz', 'readyz').replace('liveiz', 'livez'),
          ]
        : ['app-lifecycle', `${field.toLowerCase()}z`];
      paths.add(`/${root}/${String(container.name)}/${name}`);
    }
  }
  return paths;
}

/** Returns the list of probers without some paths; an empty array if no prober remains. */
function unlist(variable: JsonObject, paths: ReadonlySet<string>): JsonObject[] {
  if (variable.name !== 'ISTIO_KUBE_APP_PROBERS') return [variable];
  const [canonical] = addProbers(true, [variable as EnvironmentVariable], new Map());
  const probers = parseObject(canonical?.value);
  if (probers === undefined) return [variable];
  const rest = withoutMembers(probers, (path) => paths.has(path));
  return Object.keys(rest).length === 0 ? [] : [{ ...variable, value: rest }];
}

function hasUnreadableOverrides(pod: JsonObject): boolean {
  const text = annotationsOf(pod)[overridesAnnotation];
  if (text === undefined || text === 'null') return false;
  const lists = Object.entries(parseObject(text) ?? { containers: text });
  try {
    const known = lists.filter(([name]) => /^(initContainers|containers)$/i.test(name));
    normalisePod(Object.fromEntries(known), podStruct('v1.PodSpec'));
    return false;
  } catch {
    return true;
  }
}

/** Parses a JSON object; undefined if the text is not one. */
function parseObject(text: unknown): JsonObject | undefined {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Compares two results. Returns the mismatch with the deliberate differences that explain it. */
export function explainResult(actual: JsonObject, expected: JsonObject, context: PodContext): Mismatch | undefined {
  const summary = firstDifference(actual, expected, '');
  if (summary === undefined) return undefined;
  const applicable = podDifferences.filter(({ applies }) => applies(context));
  const remaining = (differences: readonly PodDifference[]): string | undefined => {
    const without = (result: JsonObject): JsonObject =>
      differences.reduce((rest, difference) => difference.without(rest, context), result);
    return firstDifference(without(actual), without(expected), '');
  };
  const unexplained = remaining(applicable);
  if (unexplained !== undefined) return { summary: unexplained };
  const needed = applicable.filter((each) => remaining(applicable.filter((other) => other !== each)) !== undefined);
  return { summary, differences: needed.map(({ name }) => name) };
}
