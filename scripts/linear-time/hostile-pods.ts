import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { textFamilies } from './hostile-families.ts';

/** A pod that has nearly all of its size in one part. */
export interface HostilePod {
  readonly name: string;
  readonly pod: (length: number) => JsonObject;
}

interface PodParts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  readonly container?: JsonObject;
}

function podOf({ metadata = {}, spec = {}, container = {} }: PodParts): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-1', generateName: 'web-', namespace: 'shop', labels: { app: 'web' }, ...metadata },
    spec: { containers: [{ name: 'web', image: 'web:1', ports: [{ containerPort: 80 }], ...container }], ...spec },
  };
}

/** Returns as many elements as fit into a length of JSON. */
function listOf(length: number, make: (index: number) => unknown): unknown[] {
  const each = JSON.stringify(make(1000)).length + 1;
  return Array.from({ length: Math.max(1, Math.floor(length / each)) }, (_, index) => make(index));
}

function mapOf(length: number, make: (index: number) => string): Record<string, string> {
  const each = JSON.stringify(make(1000)).length + 8;
  return Object.fromEntries(
    Array.from({ length: Math.max(1, Math.floor(length / each)) }, (_, index) => [make(index), 'x']),
  );
}

function nested(depth: number, open: string, close: string): string {
  return open.repeat(depth) + close.repeat(depth);
}

const probes = {
  readinessProbe: { httpGet: { port: 'http' } },
  livenessProbe: { tcpSocket: { port: 80 } },
  startupProbe: { grpc: { port: 80 } },
  lifecycle: { preStop: { httpGet: { port: 80 } } },
};

/** Pods with a list or map of maximum length. */
const structures: Readonly<Record<string, (length: number) => PodParts>> = {
  annotations: (length) => ({ metadata: { annotations: mapOf(length, (index) => `a.b/c${index}`) } }),
  'annotations of Prometheus': (length) => ({
    metadata: { annotations: mapOf(length, (index) => `prometheus.io/p${index}`) },
  }),
  labels: (length) => ({ metadata: { labels: mapOf(length, (index) => `a.b/c${index}`) } }),
  'owner references': (length) => ({
    metadata: {
      ownerReferences: listOf(length, (index) => ({ apiVersion: 'v1', kind: 'A', name: `a${index}`, uid: 'u' })),
    },
  }),
  finalizers: (length) => ({ metadata: { finalizers: listOf(length, (index) => `a/${index}`) } }),
  containers: (length) => ({ spec: { containers: listOf(length, (index) => ({ name: `a${index}` })) } }),
  'containers with one name': (length) => ({ spec: { containers: listOf(length, () => ({ name: 'a' })) } }),
  'containers without a name': (length) => ({ spec: { containers: listOf(length, () => ({ image: 'a' })) } }),
  'containers with the name of the proxy': (length) => ({
    spec: { containers: listOf(length, () => ({ name: 'istio-proxy' })) },
  }),
  'containers with probes': (length) => ({
    spec: {
      containers: listOf(length, (index) => ({
        name: `a${index}`,
        ports: [{ name: 'http', containerPort: 1 }],
        ...probes,
      })),
    },
  }),
  'init containers': (length) => ({ spec: { initContainers: listOf(length, (index) => ({ name: `a${index}` })) } }),
  'init containers with one name': (length) => ({ spec: { initContainers: listOf(length, () => ({ name: 'a' })) } }),
  'init containers and their order': (length) => ({
    metadata: {
      annotations: {
        'sidecar.istio.io/init-containers-before-proxy': listOf(length / 2, (index) => `a${index}`).join(','),
        'sidecar.istio.io/nativeSidecar': 'true',
      },
    },
    spec: { initContainers: listOf(length / 2, (index) => ({ name: `a${index}` })) },
  }),
  environment: (length) => ({ container: { env: listOf(length, (index) => ({ name: `A${index}`, value: 'a' })) } }),
  'variables with one name': (length) => ({ container: { env: listOf(length, () => ({ name: 'A', value: 'a' })) } }),
  ports: (length) => ({
    container: { ports: listOf(length, (index) => ({ containerPort: index, name: `p${index}` })) },
  }),
  'the same port': (length) => ({ container: { ports: listOf(length, () => ({ containerPort: 80 })) } }),
  volumes: (length) => ({ spec: { volumes: listOf(length, (index) => ({ name: `v${index}`, emptyDir: {} })) } }),
  'volumes with one name': (length) => ({ spec: { volumes: listOf(length, () => ({ name: 'v', emptyDir: {} })) } }),
  'volume mounts': (length) => ({
    container: { volumeMounts: listOf(length, (index) => ({ name: 'v', mountPath: `/${index}` })) },
  }),
  arguments: (length) => ({ container: { args: listOf(length, (index) => `-a${index}`) } }),
  tolerations: (length) => ({ spec: { tolerations: listOf(length, (index) => ({ key: `k${index}` })) } }),
  'pull secrets': (length) => ({ spec: { imagePullSecrets: listOf(length, (index) => ({ name: `s${index}` })) } }),
  'host aliases': (length) => ({
    spec: { hostAliases: listOf(length, (index) => ({ ip: `10.0.0.${index}`, hostnames: ['a'] })) },
  }),
  'spread constraints': (length) => ({
    spec: { topologySpreadConstraints: listOf(length, (index) => ({ maxSkew: 1, topologyKey: `k${index}` })) },
  }),
  'unknown members': (length) => ({ spec: mapOf(length, (index) => `member${index}`) }),
  'members with another spelling': (length) => ({ container: mapOf(length, (index) => `NAME${index}`) }),
  'affinity terms': (length) => ({
    spec: {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: listOf(length, (index) => ({
            weight: 1,
            preference: { matchExpressions: [{ key: `k${index}`, operator: 'Exists' }] },
          })),
        },
      },
    },
  }),
};

/** Annotations that the engine or Istio's templates read as JSON, YAML or lists. */
const structuredAnnotations: Readonly<Record<string, (length: number) => string>> = {
  'sidecar.istio.io/status': (length) =>
    JSON.stringify({ initContainers: [], containers: listOf(length, (index) => `a${index}`), volumes: [] }),
  'proxy.istio.io/overrides': (length) =>
    JSON.stringify({ containers: listOf(length, (index) => ({ name: `a${index}` })) }),
  'inject.istio.io/templates': (length) => 'sidecar,'.repeat(length / 8),
  'sidecar.istio.io/userVolume': (length) =>
    JSON.stringify(Object.fromEntries(listOf(length, (index) => `v${index}`).map((name) => [name, { emptyDir: {} }]))),
  'sidecar.istio.io/userVolumeMount': (length) =>
    JSON.stringify(
      Object.fromEntries(listOf(length, (index) => `v${index}`).map((name) => [name, { mountPath: '/a' }])),
    ),
  'k8s.v1.cni.cncf.io/networks': (length) => JSON.stringify(listOf(length, (index) => ({ name: `n${index}` }))),
  'traffic.sidecar.istio.io/includeInboundPorts': (length) => listOf(length, (index) => index % 65536).join(','),
  'traffic.sidecar.istio.io/excludeOutboundIPRanges': (length) => listOf(length, () => '10.0.0.0/8').join(','),
  'traffic.sidecar.istio.io/kubevirtInterfaces': (length) => listOf(length, (index) => `net${index}`).join(','),
  'prometheus.istio.io/scrape-targets': (length) => listOf(length, (index) => `${80 + (index % 9)}:/a`).join(','),
};

/** YAML or JSON texts that are slow to parse. */
const documents: Readonly<Record<string, (length: number) => string>> = {
  'nested flow lists': (length) => nested(length / 2, '[', ']'),
  'nested flow maps': (length) => nested(Math.floor(length / 6), '{"a":', '}').replace('{"a":}', '{"a":1}'),
  'nested block lists': (length) => `${'- '.repeat(length / 2)}a`,
  'block maps': (length) => listOf(length, (index) => `a${index}: b`).join('\n'),
  'one key, repeated': (length) => 'a: b\n'.repeat(length / 5),
  'metadata entries': (length) => `proxyMetadata:\n${listOf(length, (index) => `  A${index}: "b"`).join('\n')}`,
  'a flow list': (length) =>
    `proxyStatsMatcher: {inclusionPrefixes: [${listOf(length, (index) => `a${index}`).join(',')}]}`,
  'anchors and aliases': (length) => `a: &a [x]\nb: [${'*a,'.repeat(length / 3)}]`,
  'aliases of aliases': (length) =>
    `a0: &a0 [x]\n${Array.from({ length: Math.floor(length / 24) }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index},*a${index}]`).join('\n')}`,
  'merge keys': (length) => `a: &a {b: c}\n${'<<: *a\n'.repeat(length / 7)}`,
  'merge key lists': (length) => `a: &a {b: c}\n<<: [${'*a,'.repeat(length / 3)}]`,
  'a plain scalar of many lines': (length) => `a: b${'\n  c'.repeat(length / 4)}`,
  'a folded scalar': (length) => `a: >\n${'  b\n\n'.repeat(length / 5)}`,
  'a literal of spaces': (length) => `a: |\n${' '.repeat(length)}\n  b`,
  'a double-quoted scalar of many lines': (length) => `a: "${'b\n\n  '.repeat(length / 5)}"`,
  comments: (length) => '# a\n'.repeat(length / 4),
  'explicit keys': (length) => '? a\n'.repeat(length / 4),
  'a long key': (length) => `${'a'.repeat(length)}: b`,
  tags: (length) => '!!str '.repeat(length / 6),
  directives: (length) => '%YAML 1.2\n'.repeat(length / 10),
  documents: (length) => '---\n'.repeat(length / 4),
  'a duration': (length) => `drainDuration: ${'9'.repeat(length)}s`,
  'a number': (length) => `concurrency: ${'9'.repeat(length)}`,
  'a quoted number': (length) => `concurrency: "${'9'.repeat(length)}"`,
  'a sexagesimal number': (length) => `concurrency: ${'1:1'.repeat(length / 3)}`,
  binary: (length) => `a: !!binary ${'a'.repeat(length)}`,
  'an address': (length) => `discoveryAddress: "${'a.'.repeat(length / 2)}:80"`,
};

/** The fields other than annotations in which an author writes texts. */
const texts: Readonly<Record<string, (text: string) => PodParts>> = {
  'the name': (text) => ({ metadata: { name: text, generateName: '' } }),
  'the generated name': (text) => ({
    metadata: {
      generateName: text,
      ownerReferences: [{ controller: true, apiVersion: 'apps/v1', kind: 'ReplicaSet', name: text }],
    },
  }),
  'the owner of a job': (text) => ({
    metadata: {
      generateName: text,
      ownerReferences: [{ controller: true, apiVersion: 'batch/v1', kind: 'Job', name: text }],
    },
  }),
  'a label': (text) => ({
    metadata: { labels: { app: text, 'service.istio.io/canonical-name': text, version: text } },
  }),
  'the name of a label': (text) => ({ metadata: { labels: { [text]: 'a' } } }),
  'a container’s name': (text) => ({ container: { name: text } }),
  'a container’s image': (text) => ({ container: { image: text } }),
  'an argument': (text) => ({ container: { args: [text], command: [text] } }),
  'a port’s name': (text) => ({
    container: { ports: [{ name: text, containerPort: 80 }], readinessProbe: { httpGet: { port: text } } },
  }),
  'a quantity': (text) => ({ container: { resources: { limits: { cpu: text }, requests: { memory: text } } } }),
  'a timestamp': (text) => ({ metadata: { creationTimestamp: text } }),
  'the service account': (text) => ({ spec: { serviceAccountName: text, nodeName: text } }),
};

/** Returns pods with one part of maximum size. `annotations` lists names that the engine reads. */
export function* hostilePods(annotations: readonly string[], thorough: boolean): Generator<HostilePod> {
  for (const [name, parts] of Object.entries(structures)) yield { name, pod: (length) => podOf(parts(length)) };
  const annotated = (name: string, value: string): JsonObject =>
    podOf({ metadata: { annotations: { [name]: value } } });
  for (const [name, value] of Object.entries(structuredAnnotations))
    yield { name: `annotation ${name}: a long list`, pod: (length) => annotated(name, value(length)) };
  const yaml = [
    'proxy.istio.io/config',
    'proxy.istio.io/overrides',
    'sidecar.istio.io/status',
    'sidecar.istio.io/userVolume',
  ];
  for (const name of yaml) {
    for (const [kind, value] of Object.entries(documents))
      yield { name: `annotation ${name}: ${kind}`, pod: (length) => annotated(name, value(length)) };
  }
  const families = textFamilies(thorough);
  for (const name of annotations) {
    for (const family of families)
      yield { name: `annotation ${name}: ${family.name}`, pod: (length) => annotated(name, family.text(length)) };
  }
  for (const [name, parts] of Object.entries(texts)) {
    for (const family of families)
      yield { name: `${name}: ${family.name}`, pod: (length) => podOf(parts(family.text(length))) };
  }
}
