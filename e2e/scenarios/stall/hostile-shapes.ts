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

function container(parts: JsonObject): PodParts {
  return { spec: { containers: [{ ...plainContainer, ...parts }] } };
}

const named = (index: number): JsonObject => ({ ...plainContainer, name: `c${index}` });
const probe = { httpGet: { path: '/healthz', port: 8080 } };

/** Pods with too many of something. */
export const hostileShapes: readonly HostileShape[] = [
  {
    name: 'many-annotations',
    each: 18,
    parts: (count) => annotations(map(count, (index) => [`a${index}`, 'y'])),
  },
  {
    name: 'many-annotations-with-digits',
    each: 40,
    parts: (count) => annotations(map(count, (index) => [`example.com/a${index}`, `x${index}99999999`])),
  },
  {
    name: 'many-annotations-beside-a-long-note',
    each: 36,
    parts: (count) =>
      annotations({ 'example.com/note': 'x'.repeat(count * 18), ...map(count, (index) => [`a${index}`, 'y']) }),
  },
  { name: 'many-labels', each: 18, parts: (count) => ({ metadata: { labels: map(count, (n) => [`l${n}`, 'y']) } }) },
  {
    name: 'template-names-repeated',
    each: 8,
    parts: (count) => annotations({ 'inject.istio.io/templates': list(count, () => 'sidecar').join(',') }),
  },
  {
    name: 'template-names-unknown',
    each: 7,
    parts: (count) => annotations({ 'inject.istio.io/templates': list(count, (index) => `t${index}`).join(',') }),
  },
  {
    name: 'owners',
    each: 80,
    dryRunOnly: true,
    parts: (count) => ({
      metadata: {
        ownerReferences: list(count, (n) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `o${n}`, uid: `u${n}` })),
      },
    }),
  },
  {
    name: 'finalizers',
    each: 20,
    dryRunOnly: true,
    parts: (count) => ({ metadata: { finalizers: list(count, (n) => `example.com/f${n}`) } }),
  },
  { name: 'containers', each: 170, parts: (count) => ({ spec: { containers: list(count, named) } }) },
  {
    name: 'containers-of-one-name',
    most: 300,
    each: 170,
    parts: (count) => ({ spec: { containers: list(count, () => plainContainer) } }),
  },
  {
    name: 'containers-of-the-proxy-name',
    most: 300,
    each: 170,
    parts: (count) => ({ spec: { containers: list(count, () => ({ ...plainContainer, name: 'istio-proxy' })) } }),
  },
  {
    name: 'init-containers',
    each: 170,
    parts: (count) => ({ spec: { initContainers: list(count, named) } }),
  },
  {
    name: 'containers-with-probes',
    each: 560,
    parts: (count) => ({
      spec: {
        containers: list(count, (index) => ({
          ...named(index),
          readinessProbe: probe,
          livenessProbe: probe,
          startupProbe: probe,
        })),
      },
    }),
  },
  {
    name: 'containers-with-ports',
    each: 260,
    parts: (count) => ({
      spec: {
        containers: list(count, (index) => ({
          ...named(index),
          ports: list(3, (port) => ({ name: `p${port}`, containerPort: 1 + ((index * 3 + port) % 60_000) })),
        })),
      },
    }),
  },
  {
    name: 'probe-with-headers',
    each: 30,
    parts: (count) =>
      container({
        readinessProbe: {
          httpGet: { path: '/', port: 80, httpHeaders: list(count, (n) => ({ name: `h${n}`, value: 'v' })) },
        },
      }),
  },
  {
    name: 'variables',
    each: 28,
    parts: (count) => container({ env: list(count, (index) => ({ name: `E${index}`, value: 'v' })) }),
  },
  {
    name: 'variables-of-one-name',
    most: 300,
    each: 24,
    parts: (count) => container({ env: list(count, (index) => ({ name: 'E', value: `${index}` })) }),
  },
  {
    name: 'variables-from-fields',
    each: 90,
    parts: (count) =>
      container({
        env: list(count, (n) => ({ name: `E${n}`, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } })),
      }),
  },
  { name: 'arguments', each: 4, parts: (count) => container({ args: list(count, () => 'a') }) },
  {
    name: 'ports',
    most: 300,
    each: 50,
    parts: (count) =>
      container({ ports: list(count, (index) => ({ containerPort: 1 + (index % 65_535), protocol: 'TCP' })) }),
  },
  {
    name: 'ports-of-one-number',
    most: 300,
    each: 50,
    parts: (count) => container({ ports: list(count, () => ({ containerPort: 80, protocol: 'TCP' })) }),
  },
  {
    name: 'mounts',
    most: 300,
    each: 60,
    parts: (count) => ({
      spec: {
        containers: [
          { ...plainContainer, volumeMounts: list(count, (index) => ({ name: `v${index}`, mountPath: `/m${index}` })) },
        ],
        volumes: list(count, (index) => ({ name: `v${index}`, emptyDir: {} })),
      },
    }),
  },
  {
    name: 'mounts-of-one-path',
    most: 300,
    each: 40,
    parts: (count) => ({
      spec: {
        containers: [{ ...plainContainer, volumeMounts: list(count, () => ({ name: 'v', mountPath: '/m' })) }],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    }),
  },
  {
    name: 'volumes',
    each: 32,
    parts: (count) => ({ spec: { volumes: list(count, (n) => ({ name: `v${n}`, emptyDir: {} })) } }),
  },
  {
    name: 'volumes-of-one-name',
    most: 300,
    each: 32,
    parts: (count) => ({ spec: { volumes: list(count, () => ({ name: 'v', emptyDir: {} })) } }),
  },
  {
    name: 'projected-sources',
    each: 50,
    parts: (count) => ({
      spec: {
        volumes: [{ name: 'v', projected: { sources: list(count, (n) => ({ configMap: { name: `m${n}` } })) } }],
      },
    }),
  },
  {
    name: 'tolerations',
    each: 60,
    parts: (count) => ({ spec: { tolerations: list(count, (n) => ({ key: `t${n}`, operator: 'Exists' })) } }),
  },
  {
    name: 'tolerations-of-one-key',
    most: 300,
    each: 60,
    parts: (count) => ({ spec: { tolerations: list(count, () => ({ key: 't', operator: 'Exists' })) } }),
  },
  {
    name: 'pull-secrets',
    each: 17,
    parts: (count) => ({ spec: { imagePullSecrets: list(count, (index) => ({ name: `s${index}` })) } }),
  },
  {
    name: 'host-aliases',
    each: 50,
    parts: (count) => ({
      spec: { hostAliases: list(count, (n) => ({ ip: `10.0.${(n >> 8) & 255}.${n & 255}`, hostnames: [`h${n}`] })) },
    }),
  },
  {
    name: 'node-selector',
    each: 16,
    parts: (count) => ({ spec: { nodeSelector: map(count, (n) => [`n${n}`, 'v']) } }),
  },
  {
    name: 'resource-names',
    each: 40,
    parts: (count) => container({ resources: { limits: map(count, (n) => [`example.com/r${n}`, '1000000000m']) } }),
  },
  {
    name: 'quantities-with-many-digits',
    each: 1,
    parts: (count) =>
      container({ resources: { limits: { cpu: '9'.repeat(count) }, requests: { memory: `${'9'.repeat(10)}e1` } } }),
  },
  {
    name: 'affinity-terms',
    each: 90,
    parts: (count) => ({
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: list(count, (n) => ({
              topologyKey: 't',
              labelSelector: { matchLabels: { a: `l${n}` } },
            })),
          },
        },
      },
    }),
  },
  {
    name: 'scheduling-gates',
    each: 20,
    parts: (count) => ({ spec: { schedulingGates: list(count, (n) => ({ name: `example.com/g${n}` })) } }),
  },
  {
    name: 'overrides-for-each-container',
    each: 250,
    parts: (count) => ({
      metadata: {
        annotations: {
          'proxy.istio.io/overrides': JSON.stringify({
            containers: list(count, (n) => ({ name: `c${n}`, image: 'x' })),
          }),
        },
      },
      spec: { containers: list(count, named) },
    }),
  },
  {
    name: 'status-that-names-each-container',
    each: 190,
    parts: (count) => ({
      metadata: {
        annotations: { 'sidecar.istio.io/status': JSON.stringify({ containers: list(count, (n) => `c${n}`) }) },
      },
      spec: { containers: list(count, named) },
    }),
  },
  {
    name: 'status-that-names-each-volume',
    each: 50,
    parts: (count) => ({
      metadata: {
        annotations: { 'sidecar.istio.io/status': JSON.stringify({ volumes: list(count, (n) => `v${n}`) }) },
      },
      spec: { volumes: list(count, (index) => ({ name: `v${index}`, emptyDir: {} })) },
    }),
  },
  {
    name: 'user-volumes',
    each: 60,
    parts: (count) =>
      annotations({
        'sidecar.istio.io/userVolume': JSON.stringify(map(count, (n) => [`v${n}`, { emptyDir: {} }])),
        'sidecar.istio.io/userVolumeMount': JSON.stringify(map(count, (n) => [`v${n}`, { mountPath: `/m${n}` }])),
      }),
  },
  {
    name: 'user-volumes-as-list',
    each: 80,
    parts: (count) =>
      annotations({
        'sidecar.istio.io/userVolume': JSON.stringify(list(count, (n) => ({ name: `v${n}`, emptyDir: {} }))),
        'sidecar.istio.io/userVolumeMount': JSON.stringify(
          list(count, (n) => ({ name: `v${n}`, mountPath: `/m${n}` })),
        ),
      }),
  },
  {
    name: 'proxy-metadata',
    each: 10,
    parts: (count) =>
      annotations({
        'proxy.istio.io/config': JSON.stringify({ proxyMetadata: map(count, (n) => [`M${n}`, 'v']) }),
      }),
  },
  {
    name: 'proxy-metadata-as-yaml',
    each: 10,
    parts: (count) =>
      annotations({ 'proxy.istio.io/config': `proxyMetadata:\n${list(count, (n) => `  M${n}: v\n`).join('')}` }),
  },
  {
    name: 'proxy-config-tags',
    each: 26,
    parts: (count) =>
      annotations({
        'proxy.istio.io/config': JSON.stringify({
          tracing: { customTags: map(count, (n) => [`t${n}`, { literal: { value: 'v' } }]) },
        }),
      }),
  },
  {
    name: 'proxy-config-variables',
    each: 10,
    parts: (count) =>
      annotations({
        'proxy.istio.io/config': JSON.stringify({
          runtimeValues: map(count, (n) => [`r${n}`, 'v']),
          extraStatTags: list(count, (n) => `t${n}`),
        }),
      }),
  },
  {
    name: 'scrape-targets',
    each: 30,
    parts: (count) =>
      annotations({
        'prometheus.io/scrape': 'true',
        'prometheus.istio.io/scrape-targets': JSON.stringify(list(count, (n) => ({ port: `${n}`, path: '/m' }))),
      }),
  },
];
