import { normalisePod } from '../../src/inject/kubernetes/typed-pod.ts';
import { podStruct } from '../../src/inject/kubernetes/pod-schema.ts';
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

/** A class of pods in which the engine differs from Istio on purpose. */
export interface PodDifference {
  readonly name: string;
  readonly reason: string;
  /** Istio's pod as it would be without the defect; `undefined` where the defect does not show. */
  readonly correct: (wanted: JsonObject, context: PodContext) => JsonObject | undefined;
}

export const podDifferences: readonly PodDifference[] = [
  {
    name: 'no-mesh-configuration',
    reason:
      'Without any mesh configuration (only a test can do that) Istio leads Prometheus to port 0; we take the defaults, as Istio does when its ConfigMap is empty.',
    correct: (wanted, { setting }) => {
      const metadata = isJsonObject(wanted.metadata) ? wanted.metadata : {};
      const annotations = isJsonObject(metadata.annotations) ? metadata.annotations : {};
      if (setting.mesh !== '' || annotations['prometheus.io/port'] !== '0') return undefined;
      return { ...wanted, metadata: { ...metadata, annotations: { ...annotations, 'prometheus.io/port': '15020' } } };
    },
  },
  {
    name: 'metrics-without-proxy',
    reason:
      'Istio leads Prometheus to the proxy’s agent even when no template brings a proxy (again only in a test). We reroute metrics where there is something to reroute them to.',
    correct: (wanted, { proxy }) => {
      if (proxy) return undefined;
      const metadata = isJsonObject(wanted.metadata) ? wanted.metadata : {};
      const annotations = Object.entries(isJsonObject(metadata.annotations) ? metadata.annotations : {});
      const own = Object.fromEntries(annotations.filter(([name]) => !name.startsWith('prometheus.io/')));
      return { ...wanted, metadata: { ...metadata, annotations: own } };
    },
  },
  {
    name: 'unknown-fields-move',
    reason:
      'A field of a container that Istio’s Kubernetes types do not know is out of sight of its patch, which goes by index: when containers move, the field ends up on another one. Ours stays where it is.',
    correct: (wanted, { pod }) => {
      const unknown = unknownFields(containersOf(pod));
      if (unknown.size === 0) return undefined;
      const names = new Set([...unknown.values()].flatMap((fields) => Object.keys(fields)));
      const containers = containersOf(wanted).map((container) => ({
        ...Object.fromEntries(Object.entries(container).filter(([name]) => !names.has(name))),
        ...unknown.get(container.name),
      }));
      return { ...wanted, spec: { ...(wanted.spec as JsonObject), containers } };
    },
  },
];

function containersOf(pod: JsonObject): JsonObject[] {
  const containers = isJsonObject(pod.spec) ? pod.spec.containers : [];
  return Array.isArray(containers) ? containers.filter(isJsonObject) : [];
}

/** By container name, the members that reading it as Go's type drops. */
function unknownFields(containers: readonly JsonObject[]): Map<unknown, JsonObject> {
  const found = new Map<unknown, JsonObject>();
  for (const container of containers) {
    const known = normalisePod(container, podStruct('v1.Container'));
    const fields = Object.entries(container).filter(([name]) => !Object.hasOwn(known, name));
    if (fields.length > 0) found.set(container.name, Object.fromEntries(fields));
  }
  return found;
}

/** Compares two pods, and tells which deliberate difference explains where they part. */
export function explainPod(actual: JsonObject, wanted: JsonObject, context: PodContext): Mismatch | undefined {
  const summary = firstDifference(actual, wanted, '');
  if (summary === undefined) return undefined;
  for (const { name, correct } of podDifferences) {
    const corrected = correct(wanted, context);
    if (corrected !== undefined && firstDifference(actual, corrected, '') === undefined)
      return { summary, difference: name };
  }
  return { summary };
}
