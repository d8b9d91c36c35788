import { podStruct } from '../../src/inject/kubernetes/pod-schema.ts';
import { normalisePod } from '../../src/inject/kubernetes/typed-pod.ts';
import type { EnvironmentVariable } from '../../src/inject/pod/pod.ts';
import { addProbers } from '../../src/inject/probes/take-over-probes.ts';
import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';
import { firstDifference, type Mismatch } from './conformance-case.ts';
import type { Setting } from './golden.ts';

/** What a deliberate difference may look at. */
export interface PodContext {
  readonly setting: Setting;
  /** The pod of the request. */
  readonly pod: JsonObject;
  /** Whether a template of the configuration brings Istio's proxy. */
  readonly proxy: boolean;
}

/** A class of rows in which the engine differs from Istio on purpose. */
export interface PodDifference {
  readonly name: string;
  readonly reason: string;
  /** It was agreed that the class may be large. */
  readonly common?: true;
  /** Whether a row is of the class; what came of it does not count. */
  readonly applies: (context: PodContext) => boolean;
  /** A result, Istio's or ours, without that in which they differ: a pod, or `{ message }` of a denial. */
  readonly without: (result: JsonObject, context: PodContext) => JsonObject;
}

export const podDifferences: readonly PodDifference[] = [
  {
    name: 'no-mesh-configuration',
    reason:
      'Without any mesh configuration (only a test can do that) Istio leads Prometheus to port 0; we take the defaults, as Istio does when its ConfigMap is empty.',
    applies: ({ setting }) => setting.mesh === '',
    without: (result) => withoutAnnotations(result, (name) => name === 'prometheus.io/port'),
  },
  {
    name: 'metrics-without-proxy',
    reason:
      'Istio leads Prometheus to the proxy’s agent even when no template brings a proxy (again only in a test). We reroute metrics where there is something to reroute them to.',
    applies: ({ proxy }) => !proxy,
    without: (result) => withoutAnnotations(result, (name) => name.startsWith('prometheus.io/')),
  },
  {
    name: 'unknown-fields-move',
    reason:
      'A field of a container that Istio’s Kubernetes types do not know is out of sight of its patch, which goes by index: when containers move, the field ends up on another one. Ours stays where it is.',
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
      'A probe whose port is a number in quotes is valid: the kubelet reads the number. Istio rewrites such a probe to its agent and does not tell the agent the target, so the probe fails for ever. We tell it.',
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
      'When proxy.istio.io/overrides cannot be read, Istio denies the pod with the text of Go’s JSON decoder, which names neither the annotation nor the pod. Ours names the annotation.',
    applies: ({ pod }) => hasUnreadableOverrides(pod),
    without: (result) => (result.message === undefined ? result : { message: '' }),
  },
  {
    name: 'spelled-twice',
    reason:
      'Prometheus takes prometheus.io/port, prometheus.io.port and prometheus_io_port for one. When a pod has two of them, Istio reads either, by chance, from call to call. We read the last one, always.',
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

/** A pod whose containers have other environment variables. */
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

/** The members of containers that reading them as Go's type drops. */
function unknownFields(pod: JsonObject): Set<string> {
  return new Set(
    containersOf(pod).flatMap((container) => {
      const known = normalisePod(container, podStruct('v1.Container'));
      return Object.keys(container).filter((name) => !Object.hasOwn(known, name));
    }),
  );
}

/** The agent's paths for handlers whose port is a number in quotes that is not the name of a port. */
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

/** The list of probers without those of some paths; nothing when it is empty then. */
function unlist(variable: JsonObject, paths: ReadonlySet<string>): JsonObject[] {
  if (variable.name !== 'ISTIO_KUBE_APP_PROBERS') return [variable];
  const [canonical] = addProbers(true, [variable as EnvironmentVariable], new Map());
  const probers = parseObject(canonical?.value);
  if (probers === undefined) return [variable];
  const left = withoutMembers(probers, (path) => paths.has(path));
  return Object.keys(left).length === 0 ? [] : [{ ...variable, value: left }];
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

/** A text's JSON object; `undefined` when it is none. */
function parseObject(text: unknown): JsonObject | undefined {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Compares two results, and tells which deliberate differences explain where they part: those without which something is left. */
export function explainResult(actual: JsonObject, wanted: JsonObject, context: PodContext): Mismatch | undefined {
  const summary = firstDifference(actual, wanted, '');
  if (summary === undefined) return undefined;
  const applicable = podDifferences.filter(({ applies }) => applies(context));
  const left = (differences: readonly PodDifference[]): string | undefined => {
    const without = (result: JsonObject): JsonObject =>
      differences.reduce((rest, difference) => difference.without(rest, context), result);
    return firstDifference(without(actual), without(wanted), '');
  };
  const unexplained = left(applicable);
  if (unexplained !== undefined) return { summary: unexplained };
  const needed = applicable.filter((each) => left(applicable.filter((other) => other !== each)) !== undefined);
  return { summary, differences: needed.map(({ name }) => name) };
}
