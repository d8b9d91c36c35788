import type { JsonObject } from '../../../src/inject/patch/json-value.ts';
import { plainContainer, type PodParts } from './hostile-fields.ts';

/** A pod that is hostile by what it has too many of. */
export interface HostileShape {
  /** In lower case with dashes. */
  readonly name: string;
  /** About how many bytes of JSON one of them takes. */
  readonly each: number;
  readonly parts: (count: number) => PodParts;
  /** No more of them, since the API server itself takes seconds to refuse more. */
  readonly most?: number;
  /** Once stored it would keep others than the injector busy: the garbage collector looks for each owner. */
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

function container(parts: JsonObject): PodParts {
  return spec({ containers: [{ ...plainContainer, ...parts }] });
}

function shape(
  name: string,
  each: number,
  parts: HostileShape['parts'],
  bounds: Pick<HostileShape, 'most' | 'dryRunOnly'> = {},
): HostileShape {
  return { name, each, parts, ...bounds };
}

const named = (index: number): JsonObject => ({ ...plainContainer, name: `c${index}` });
const probe = { httpGet: { path: '/healthz', port: 8080 } };

/** Pods with too many of something. */
export const hostileShapes: readonly HostileShape[] = [
  shape('many-annotations', 18, (count) => annotations(map(count, (index) => [`a${index}`, 'y']))),
  shape('many-annotations-with-digits', 40, (count) =>
    annotations(map(count, (index) => [`example.com/a${index}`, `x${index}99999999`])),
  ),
  shape('many-annotations-beside-a-long-note', 36, (count) =>
    annotations({ 'example.com/note': 'x'.repeat(count * 18), ...map(count, (index) => [`a${index}`, 'y']) }),
  ),
  shape('many-labels', 18, (count) => ({ metadata: { labels: map(count, (n) => [`l${n}`, 'y']) } })),
  shape('template-names-repeated', 8, (count) =>
    annotations({ 'inject.istio.io/templates': list(count, () => 'sidecar').join(',') }),
  ),
  shape('template-names-unknown', 7, (count) =>
    annotations({ 'inject.istio.io/templates': list(count, (index) => `t${index}`).join(',') }),
  ),
  shape(
    'owners',
    80,
    (count) => ({
      metadata: {
        ownerReferences: list(count, (n) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `o${n}`, uid: `u${n}` })),
      },
    }),
    { dryRunOnly: true },
  ),
  shape('finalizers', 20, (count) => ({ metadata: { finalizers: list(count, (n) => `example.com/f${n}`) } }), {
    dryRunOnly: true,
  }),
  shape('containers', 170, (count) => spec({ containers: list(count, named) })),
  shape('containers-of-one-name', 170, (count) => spec({ containers: list(count, () => plainContainer) }), {
    most: 300,
  }),
  shape(
    'containers-of-the-proxy-name',
    170,
    (count) => spec({ containers: list(count, () => ({ ...plainContainer, name: 'istio-proxy' })) }),
    { most: 300 },
  ),
  shape('init-containers', 170, (count) => spec({ initContainers: list(count, named) })),
  shape('containers-with-probes', 560, (count) =>
    spec({
      containers: list(count, (index) => ({
        ...named(index),
        readinessProbe: probe,
        livenessProbe: probe,
        startupProbe: probe,
      })),
    }),
  ),
  shape('containers-with-ports', 260, (count) =>
    spec({
      containers: list(count, (index) => ({
        ...named(index),
        ports: list(3, (port) => ({ name: `p${port}`, containerPort: 1 + ((index * 3 + port) % 60_000) })),
      })),
    }),
  ),
  shape('probe-with-headers', 30, (count) =>
    container({
      readinessProbe: {
        httpGet: { path: '/', port: 80, httpHeaders: list(count, (n) => ({ name: `h${n}`, value: 'v' })) },
      },
    }),
  ),
  shape('variables', 28, (count) => container({ env: list(count, (index) => ({ name: `E${index}`, value: 'v' })) })),
  shape(
    'variables-of-one-name',
    24,
    (count) => container({ env: list(count, (index) => ({ name: 'E', value: `${index}` })) }),
    { most: 300 },
  ),
  shape('variables-from-fields', 90, (count) =>
    container({
      env: list(count, (n) => ({ name: `E${n}`, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } })),
    }),
  ),
  shape('arguments', 4, (count) => container({ args: list(count, () => 'a') })),
  shape(
    'ports',
    50,
    (count) => container({ ports: list(count, (index) => ({ containerPort: 1 + (index % 65_535), protocol: 'TCP' })) }),
    { most: 300 },
  ),
  shape(
    'ports-of-one-number',
    50,
    (count) => container({ ports: list(count, () => ({ containerPort: 80, protocol: 'TCP' })) }),
    { most: 300 },
  ),
  shape(
    'mounts',
    60,
    (count) =>
      spec({
        containers: [
          { ...plainContainer, volumeMounts: list(count, (index) => ({ name: `v${index}`, mountPath: `/m${index}` })) },
        ],
        volumes: list(count, (index) => ({ name: `v${index}`, emptyDir: {} })),
      }),
    { most: 300 },
  ),
  shape(
    'mounts-of-one-path',
    40,
    (count) =>
      spec({
        containers: [{ ...plainContainer, volumeMounts: list(count, () => ({ name: 'v', mountPath: '/m' })) }],
        volumes: [{ name: 'v', emptyDir: {} }],
      }),
    { most: 300 },
  ),
  shape('volumes', 32, (count) => spec({ volumes: list(count, (n) => ({ name: `v${n}`, emptyDir: {} })) })),
  shape('volumes-of-one-name', 32, (count) => spec({ volumes: list(count, () => ({ name: 'v', emptyDir: {} })) }), {
    most: 300,
  }),
  shape('projected-sources', 50, (count) =>
    spec({
      volumes: [{ name: 'v', projected: { sources: list(count, (n) => ({ configMap: { name: `m${n}` } })) } }],
    }),
  ),
  shape('tolerations', 60, (count) =>
    spec({ tolerations: list(count, (n) => ({ key: `t${n}`, operator: 'Exists' })) }),
  ),
  shape(
    'tolerations-of-one-key',
    60,
    (count) => spec({ tolerations: list(count, () => ({ key: 't', operator: 'Exists' })) }),
    { most: 300 },
  ),
  shape('pull-secrets', 17, (count) => spec({ imagePullSecrets: list(count, (index) => ({ name: `s${index}` })) })),
  shape('host-aliases', 50, (count) =>
    spec({ hostAliases: list(count, (n) => ({ ip: `10.0.${(n >> 8) & 255}.${n & 255}`, hostnames: [`h${n}`] })) }),
  ),
  shape('node-selector', 16, (count) => spec({ nodeSelector: map(count, (n) => [`n${n}`, 'v']) })),
  shape('resource-names', 40, (count) =>
    container({ resources: { limits: map(count, (n) => [`example.com/r${n}`, '1000000000m']) } }),
  ),
  shape('quantities-with-many-digits', 1, (count) =>
    container({ resources: { limits: { cpu: '9'.repeat(count) }, requests: { memory: `${'9'.repeat(10)}e1` } } }),
  ),
  shape('affinity-terms', 90, (count) =>
    spec({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: list(count, (n) => ({
            topologyKey: 't',
            labelSelector: { matchLabels: { a: `l${n}` } },
          })),
        },
      },
    }),
  ),
  shape('scheduling-gates', 20, (count) =>
    spec({ schedulingGates: list(count, (n) => ({ name: `example.com/g${n}` })) }),
  ),
  shape('overrides-for-each-container', 250, (count) => ({
    metadata: {
      annotations: {
        'proxy.istio.io/overrides': JSON.stringify({
          containers: list(count, (n) => ({ name: `c${n}`, image: 'x' })),
        }),
      },
    },
    spec: { containers: list(count, named) },
  })),
  shape('status-that-names-each-container', 190, (count) => ({
    metadata: {
      annotations: { 'sidecar.istio.io/status': JSON.stringify({ containers: list(count, (n) => `c${n}`) }) },
    },
    spec: { containers: list(count, named) },
  })),
  shape('status-that-names-each-volume', 50, (count) => ({
    metadata: {
      annotations: { 'sidecar.istio.io/status': JSON.stringify({ volumes: list(count, (n) => `v${n}`) }) },
    },
    spec: { volumes: list(count, (index) => ({ name: `v${index}`, emptyDir: {} })) },
  })),
  shape('user-volumes', 60, (count) =>
    annotations({
      'sidecar.istio.io/userVolume': JSON.stringify(map(count, (n) => [`v${n}`, { emptyDir: {} }])),
      'sidecar.istio.io/userVolumeMount': JSON.stringify(map(count, (n) => [`v${n}`, { mountPath: `/m${n}` }])),
    }),
  ),
  shape('user-volumes-as-list', 80, (count) =>
    annotations({
      'sidecar.istio.io/userVolume': JSON.stringify(list(count, (n) => ({ name: `v${n}`, emptyDir: {} }))),
      'sidecar.istio.io/userVolumeMount': JSON.stringify(list(count, (n) => ({ name: `v${n}`, mountPath: `/m${n}` }))),
    }),
  ),
  shape('proxy-metadata', 10, (count) =>
    annotations({
      'proxy.istio.io/config': JSON.stringify({ proxyMetadata: map(count, (n) => [`M${n}`, 'v']) }),
    }),
  ),
  shape('proxy-metadata-as-yaml', 10, (count) =>
    annotations({ 'proxy.istio.io/config': `proxyMetadata:\n${list(count, (n) => `  M${n}: v\n`).join('')}` }),
  ),
  shape('proxy-config-tags', 26, (count) =>
    annotations({
      'proxy.istio.io/config': JSON.stringify({
        tracing: { customTags: map(count, (n) => [`t${n}`, { literal: { value: 'v' } }]) },
      }),
    }),
  ),
  shape('proxy-config-variables', 10, (count) =>
    annotations({
      'proxy.istio.io/config': JSON.stringify({
        runtimeValues: map(count, (n) => [`r${n}`, 'v']),
        extraStatTags: list(count, (n) => `t${n}`),
      }),
    }),
  ),
  shape('scrape-targets', 30, (count) =>
    annotations({
      'prometheus.io/scrape': 'true',
      'prometheus.istio.io/scrape-targets': JSON.stringify(list(count, (n) => ({ port: `${n}`, path: '/m' }))),
    }),
  ),
];
