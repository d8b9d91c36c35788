import type { AuthorReads } from '../../src/inject/safety/author-reads.ts';
import type { Injector } from '../../src/inject/injector.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';

/** A field that the author of a pod writes. */
export interface AuthorField {
  /** The name of the field in a refusal. */
  readonly name: string;
  /** The key of the field, which outlines omit, because the author writes the field. */
  readonly key: string;
  readonly put: (pod: JsonObject, value: string) => JsonObject;
  /** Harmless values. They, and the absence of the field, lead to all allowed outlines. */
  readonly benign: readonly string[];
}

/** Harmless values of annotations that Istio validates. Other annotations may be any plain word. */
const benignValues: readonly (readonly [pattern: RegExp, values: readonly string[]])[] = [
  [/proxyCPU|proxyMemory/, ['100m']],
  [/interceptionMode$/, ['REDIRECT', 'NONE', 'TPROXY']],
  [/status\.sidecar\.istio\.io\/port$/, ['15020', '0']],
  [/Seconds$|failureThreshold$/, ['3']],
  [/Ports$/, ['80']],
  [/IPRanges$/, ['10.0.0.0/8']],
  [/merge-metrics$|capNetBindService$|nativeSidecar$|rewriteAppHTTPProbers$/, ['true', 'false']],
  [/proxy\.istio\.io\/config$|overrides$|\/status$|templates$|env$|userVolume/, []],
];

/** Returns the fields of {@link ordinaryPod} that the templates or the engine read. */
export function authorFields({ family }: Injector, reads: AuthorReads): AuthorField[] {
  const engineAnnotations = [
    family.templatesKey,
    family.overridesKey,
    family.keys.status,
    'proxy.istio.io/config',
    'sidecar.istio.io/rewriteAppHTTPProbers',
    'prometheus.istio.io/merge-metrics',
  ];
  const named = (names: Iterable<string>): string[] => [...names].filter((name) => name !== '*');
  const annotations = new Set([...named(reads.annotations.keys()), ...engineAnnotations]);
  const labels = new Set([...named(reads.labels.keys()), 'topology.istio.io/network']);
  return [
    ...[...annotations].map((name) => entryField('annotations', name)),
    ...[...labels].map((name) => entryField('labels', name)),
    textField('metadata.name', ['metadata', 'name']),
    textField('metadata.ownerReferences[].apiVersion', ['metadata', 'ownerReferences', 0, 'apiVersion']),
    textField('metadata.ownerReferences[].kind', ['metadata', 'ownerReferences', 0, 'kind']),
    textField('metadata.ownerReferences[].name', ['metadata', 'ownerReferences', 0, 'name']),
    textField('spec.serviceAccountName', ['spec', 'serviceAccountName']),
    textField('spec.containers[].name', ['spec', 'containers', 0, 'name']),
    textField('spec.containers[].image', ['spec', 'containers', 0, 'image']),
    textField('spec.containers[].ports', ['spec', 'containers', 0, 'ports', 0, 'name']),
  ];
}

/** A pod of a workload, with all fields of {@link authorFields}. */
export const ordinaryPod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'shop-1',
    generateName: 'shop-',
    namespace: 'demo',
    labels: { app: 'shop' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'shop', uid: 'u', controller: true }],
  },
  spec: {
    serviceAccountName: 'shop',
    containers: [{ name: 'shop', image: 'shop:1', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
  },
};

function entryField(map: 'annotations' | 'labels', name: string): AuthorField {
  return {
    name,
    key: name,
    put: (pod, value) => {
      const metadata = pod.metadata as JsonObject;
      return { ...pod, metadata: { ...metadata, [map]: { ...(metadata[map] as JsonObject), [name]: value } } };
    },
    benign: benignValues.find(([pattern]) => pattern.test(name))?.[1] ?? ['benign'],
  };
}

function textField(name: string, path: readonly (string | number)[]): AuthorField {
  const put = (target: unknown, value: string, depth: number): unknown => {
    const key = path[depth];
    if (key === undefined) return value;
    const copy = (Array.isArray(target) ? [...(target as unknown[])] : { ...(target as JsonObject) }) as Record<
      string | number,
      unknown
    >;
    copy[key] = put(copy[key], value, depth + 1);
    return copy;
  };
  return { name, key: String(path[1]), put: (pod, value) => put(pod, value, 0) as JsonObject, benign: ['benign'] };
}
