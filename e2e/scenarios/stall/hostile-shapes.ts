import type { JsonObject } from '../../../src/inject/patch/json-value.ts';
import { container, plainContainer, type PodParts } from './hostile-fields.ts';

export interface HostileShape {
  readonly name: string;
  /** The approximate size of one element, in bytes of JSON. */
  readonly each: number;
  readonly parts: (count: number) => PodParts;
  /** The maximum number of elements. The API server itself takes seconds to refuse more. */
  readonly most?: number | undefined;
  /** Whether stored pods would stall the garbage collector, which looks up each owner. */
  readonly dryRunOnly?: true;
}

function list<Value>(count: number, make: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function map(count: number, make: (index: number) => readonly [string, unknown]): JsonObject {
  return Object.fromEntries(list(count, make));
}

function annotations(annotation: JsonObject, spec: JsonObject = {}): PodParts {
  return { metadata: { annotations: annotation }, spec };
}

function spec(parts: JsonObject): PodParts {
  return { spec: parts };
}

function templateNames(names: readonly string[]): PodParts {
  return annotations({ 'inject.istio.io/templates': names.join(',') });
}

function proxyConfig(config: JsonObject): PodParts {
  return annotations({ 'proxy.istio.io/config': JSON.stringify(config) });
}

/** @param size the approximate bytes of JSON per element, optionally with bounds */
function shape(
  name: string,
  size: number | Omit<HostileShape, 'name' | 'parts'>,
  parts: HostileShape['parts'],
): HostileShape {
  return { name, parts, ...(typeof size === 'number' ? { each: size } : size) };
}

const named = (index: number): JsonObject => ({ ...plainContainer, name: `c${index}` });
const volume = (index: number): JsonObject => ({ name: `v${index}`, emptyDir: {} });
const probe = { httpGet: { path: '/healthz', port: 8080 } };
const probes = { readinessProbe: probe, livenessProbe: probe, startupProbe: probe };
const threePorts = (index: number): JsonObject[] =>
  list(3, (port) => ({ name: `p${port}`, containerPort: 1 + ((index * 3 + port) % 60_000) }));
const podName = { fieldRef: { fieldPath: 'metadata.name' } };

/** A shape with a long list: the field, a function that makes an element, sizes as above. */
type Row = readonly [name: string, each: number, field: string, make: (index: number) => unknown, most?: number];

const listsOfSpec: readonly Row[] = [
  ['containers', 170, 'containers', named],
  ['containers-of-one-name', 170, 'containers', () => plainContainer, 300],
  ['containers-of-the-proxy-name', 170, 'containers', () => ({ ...plainContainer, name: 'istio-proxy' }), 300],
  ['init-containers', 170, 'initContainers', named],
  ['containers-with-probes', 560, 'containers', (n) => ({ ...named(n), ...probes })],
  ['containers-with-ports', 260, 'containers', (n) => ({ ...named(n), ports: threePorts(n) })],
  ['volumes', 32, 'volumes', volume],
  ['volumes-of-one-name', 32, 'volumes', () => ({ name: 'v', emptyDir: {} }), 300],
  ['tolerations', 60, 'tolerations', (n) => ({ key: `t${n}`, operator: 'Exists' })],
  ['tolerations-of-one-key', 60, 'tolerations', () => ({ key: 't', operator: 'Exists' }), 300],
  ['pull-secrets', 17, 'imagePullSecrets', (n) => ({ name: `s${n}` })],
  ['host-aliases', 50, 'hostAliases', (n) => ({ ip: `10.0.${(n >> 8) & 255}.${n & 255}`, hostnames: [`h${n}`] })],
  ['scheduling-gates', 20, 'schedulingGates', (n) => ({ name: `example.com/g${n}` })],
];

const listsOfContainer: readonly Row[] = [
  ['variables', 28, 'env', (n) => ({ name: `E${n}`, value: 'v' })],
  ['variables-of-one-name', 24, 'env', (n) => ({ name: 'E', value: `${n}` }), 300],
  ['variables-from-fields', 90, 'env', (n) => ({ name: `E${n}`, valueFrom: podName })],
  ['arguments', 4, 'args', () => 'a'],
  ['ports', 50, 'ports', (n) => ({ containerPort: 1 + (n % 65_535), protocol: 'TCP' }), 300],
  ['ports-of-one-number', 50, 'ports', () => ({ containerPort: 80, protocol: 'TCP' }), 300],
];

export const hostileShapes: readonly HostileShape[] = [
  ...listsOfSpec.map(([name, each, field, make, most]) =>
    shape(name, { each, most }, (count) => spec({ [field]: list(count, make) })),
  ),
  ...listsOfContainer.map(([name, each, field, make, most]) =>
    shape(name, { each, most }, (count) => container({ [field]: list(count, make) })),
  ),
  shape('template-names-repeated', 8, (count) => templateNames(list(count, () => 'sidecar'))),
  shape('template-names-unknown', 7, (count) => templateNames(list(count, (n) => `t${n}`))),
  shape('proxy-metadata', 10, (count) => proxyConfig({ proxyMetadata: map(count, (n) => [`M${n}`, 'v']) })),
  shape('proxy-metadata-as-yaml', 10, (count) =>
    annotations({ 'proxy.istio.io/config': `proxyMetadata:\n${list(count, (n) => `  M${n}: v\n`).join('')}` }),
  ),
  shape('proxy-config-tags', 26, (count) =>
    proxyConfig({ tracing: { customTags: map(count, (n) => [`t${n}`, { literal: { value: 'v' } }]) } }),
  ),
  shape('proxy-config-variables', 10, (count) =>
    proxyConfig({
      runtimeValues: map(count, (n) => [`r${n}`, 'v']),
      extraStatTags: list(count, (n) => `t${n}`),
    }),
  ),
  shape('many-annotations', 18, (count) => annotations(map(count, (n) => [`a${n}`, 'y']))),
  shape('many-annotations-with-digits', 40, (count) =>
    annotations(map(count, (n) => [`example.com/a${n}`, `x${n}99999999`])),
  ),
  shape('many-annotations-beside-a-long-note', 36, (count) =>
    annotations({ 'example.com/note': 'x'.repeat(count * 18), ...map(count, (n) => [`a${n}`, 'y']) }),
  ),
  shape('many-labels', 18, (count) => ({ metadata: { labels: map(count, (n) => [`l${n}`, 'y']) } })),
  shape('owners', { each: 80, dryRunOnly: true }, (count) => ({ metadata: { ownerReferences: list(count, owner) } })),
  shape('finalizers', { each: 20, dryRunOnly: true }, (count) => ({
    metadata: { finalizers: list(count, (n) => `example.com/f${n}`) },
  })),
  shape('probe-with-headers', 30, (count) => {
    const httpHeaders = list(count, (n) => ({ name: `h${n}`, value: 'v' }));
    return container({ readinessProbe: { httpGet: { path: '/', port: 80, httpHeaders } } });
  }),
  shape('mounts', { each: 60, most: 300 }, (count) => {
    const volumeMounts = list(count, (n) => ({ name: `v${n}`, mountPath: `/m${n}` }));
    return spec({ containers: [{ ...plainContainer, volumeMounts }], volumes: list(count, volume) });
  }),
  shape('mounts-of-one-path', { each: 40, most: 300 }, (count) => {
    const volumeMounts = list(count, () => ({ name: 'v', mountPath: '/m' }));
    return spec({ containers: [{ ...plainContainer, volumeMounts }], volumes: [{ name: 'v', emptyDir: {} }] });
  }),
  shape('projected-sources', 50, (count) => {
    const sources = list(count, (n) => ({ configMap: { name: `m${n}` } }));
    return spec({ volumes: [{ name: 'v', projected: { sources } }] });
  }),
  shape('node-selector', 16, (count) => spec({ nodeSelector: map(count, (n) => [`n${n}`, 'v']) })),
  shape('resource-names', 40, (count) =>
    container({ resources: { limits: map(count, (n) => [`example.com/r${n}`, '1000000000m']) } }),
  ),
  shape('quantities-with-many-digits', 1, (count) =>
    container({ resources: { limits: { cpu: '9'.repeat(count) }, requests: { memory: `${'9'.repeat(10)}e1` } } }),
  ),
  shape('affinity-terms', 90, (count) => {
    const term = (n: number) => ({ topologyKey: 't', labelSelector: { matchLabels: { a: `l${n}` } } });
    const requiredDuringSchedulingIgnoredDuringExecution = list(count, term);
    return spec({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } });
  }),
  shape('overrides-for-each-container', 250, (count) => {
    const overrides = { containers: list(count, (n) => ({ name: `c${n}`, image: 'x' })) };
    return annotations({ 'proxy.istio.io/overrides': JSON.stringify(overrides) }, { containers: list(count, named) });
  }),
  shape('status-that-names-each-container', 190, (count) => {
    const status = JSON.stringify({ containers: list(count, (n) => `c${n}`) });
    return annotations({ 'sidecar.istio.io/status': status }, { containers: list(count, named) });
  }),
  shape('status-that-names-each-volume', 50, (count) => {
    const status = JSON.stringify({ volumes: list(count, (n) => `v${n}`) });
    return annotations({ 'sidecar.istio.io/status': status }, { volumes: list(count, volume) });
  }),
  shape('user-volumes', 60, (count) =>
    annotations({
      'sidecar.istio.io/userVolume': JSON.stringify(map(count, (n) => [`v${n}`, { emptyDir: {} }])),
      'sidecar.istio.io/userVolumeMount': JSON.stringify(map(count, (n) => [`v${n}`, { mountPath: `/m${n}` }])),
    }),
  ),
  shape('user-volumes-as-list', 80, (count) =>
    annotations({
      'sidecar.istio.io/userVolume': JSON.stringify(list(count, volume)),
      'sidecar.istio.io/userVolumeMount': JSON.stringify(list(count, (n) => ({ name: `v${n}`, mountPath: `/m${n}` }))),
    }),
  ),
  shape('scrape-targets', 30, (count) =>
    annotations({
      'prometheus.io/scrape': 'true',
      'prometheus.istio.io/scrape-targets': JSON.stringify(list(count, (n) => ({ port: `${n}`, path: '/m' }))),
    }),
  ),
];

function owner(n: number): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: `o${n}`, uid: `u${n}` };
}
