import type { JsonObject } from '../../../src/inject/patch/json-value.ts';

export interface HostileField {
  readonly name: string;
  readonly parts: (text: string) => PodParts;
}

export interface PodParts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
}

export const plainContainer: JsonObject = { name: 'app', image: 'example.com/app:1' };

const plainAnnotations = [
  ['example.com/note', 'proxy.istio.io/config', 'proxy.istio.io/overrides', 'sidecar.istio.io/status'],
  ['sidecar.istio.io/inject', 'inject.istio.io/templates', 'traffic.sidecar.istio.io/includeOutboundIPRanges'],
  ['traffic.sidecar.istio.io/excludeOutboundIPRanges', 'traffic.sidecar.istio.io/includeInboundPorts'],
  ['traffic.sidecar.istio.io/excludeInboundPorts', 'traffic.sidecar.istio.io/excludeOutboundPorts'],
  ['traffic.sidecar.istio.io/kubevirtInterfaces', 'traffic.sidecar.istio.io/excludeInterfaces'],
  ['istio.io/reroute-virtual-interfaces', 'prometheus.istio.io/merge-metrics', 'prometheus.io/scrape'],
  ['prometheus.io/port', 'prometheus.io/path', 'status.sidecar.istio.io/port'],
  ['readiness.status.sidecar.istio.io/initialDelaySeconds', 'readiness.status.sidecar.istio.io/applicationPorts'],
  ['sidecar.istio.io/proxyCPU', 'sidecar.istio.io/proxyMemoryLimit', 'sidecar.istio.io/proxyImage'],
  ['sidecar.istio.io/interceptionMode', 'sidecar.istio.io/rewriteAppHTTPProbers', 'sidecar.istio.io/userVolume'],
  ['sidecar.istio.io/userVolumeMount', 'sidecar.istio.io/bootstrapOverride', 'sidecar.istio.io/componentLogLevel'],
  ['sidecar.istio.io/discoveryAddress', 'sidecar.istio.io/nativeSidecar'],
  ['sidecar.istio.io/init-containers-before-proxy', 'topology.istio.io/network', 'k8s.v1.cni.cncf.io/networks'],
  ['sidecar-injector.io/config'],
].flat();

const within: Readonly<Record<string, readonly [annotation: string, whole: (text: string) => string]>> = {
  'proxy-config-duration': ['proxy.istio.io/config', (text) => `drainDuration: ${text}`],
  'proxy-config-quoted-duration': ['proxy.istio.io/config', (text) => `drainDuration: ${JSON.stringify(text)}`],
  'proxy-config-number': ['proxy.istio.io/config', (text) => `concurrency: ${text}`],
  'proxy-config-address': ['proxy.istio.io/config', (text) => `discoveryAddress: ${JSON.stringify(text)}`],
  'proxy-config-fraction': ['proxy.istio.io/config', (text) => `tracing: {sampling: ${text}}`],
  'proxy-config-metadata': ['proxy.istio.io/config', (text) => `proxyMetadata: {A: ${JSON.stringify(text)}}`],
  'proxy-config-image': ['proxy.istio.io/config', (text) => `image: {imageType: ${JSON.stringify(text)}}`],
  'proxy-config-enumeration': ['proxy.istio.io/config', (text) => `interceptionMode: ${JSON.stringify(text)}`],
  'proxy-config-key': ['proxy.istio.io/config', (text) => `${JSON.stringify(text)}: 1`],
  'proxy-config-expressions': [
    'proxy.istio.io/config',
    (text) => `proxyStatsMatcher: {inclusionRegexps: [${JSON.stringify(text)}]}`,
  ],
  'overrides-name': ['proxy.istio.io/overrides', (text) => JSON.stringify({ containers: [{ name: text }] })],
  'overrides-value': [
    'proxy.istio.io/overrides',
    (text) => JSON.stringify({ containers: [{ name: 'istio-proxy', env: [{ name: 'A', value: text }] }] }),
  ],
  'overrides-raw': ['proxy.istio.io/overrides', (text) => `{"containers":${text}}`],
  'status-raw': ['sidecar.istio.io/status', (text) => `{"containers":${text}}`],
  'status-names': ['sidecar.istio.io/status', (text) => JSON.stringify({ containers: [text], initContainers: [text] })],
  'volume-raw': ['sidecar.istio.io/userVolume', (text) => `{"a":${text}}`],
  'volume-name': ['sidecar.istio.io/userVolume', (text) => JSON.stringify({ [text]: { emptyDir: {} } })],
};

/** Returns a pod with one container, whose fields the parts override. */
export function container(parts: JsonObject): PodParts {
  return { spec: { containers: [{ ...plainContainer, ...parts }] } };
}

const places: Readonly<Record<string, (text: string) => PodParts>> = {
  'annotation-name': (text) => ({ metadata: { annotations: { [`example.com/${text}`]: 'x' } } }),
  'label-value': (text) => ({ metadata: { labels: { app: text } } }),
  'label-name': (text) => ({ metadata: { labels: { [text]: 'x' } } }),
  'owner-name': (text) => ({
    metadata: {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: text, uid: 'u', controller: true }],
    },
  }),
  'owner-kind': (text) => ({
    metadata: { ownerReferences: [{ apiVersion: text, kind: text, name: 'a', uid: 'u', controller: true }] },
  }),
  finalizer: (text) => ({ metadata: { finalizers: [text] } }),
  'container-name': (text) => container({ name: text }),
  'container-image': (text) => container({ image: text }),
  'container-argument': (text) => container({ args: [text] }),
  'environment-value': (text) => container({ env: [{ name: 'A', value: text }] }),
  'environment-name': (text) => container({ env: [{ name: text, value: 'a' }] }),
  'port-name': (text) => container({ ports: [{ name: text, containerPort: 80 }] }),
  'probe-path': (text) => container({ readinessProbe: { httpGet: { path: text, port: 80 } } }),
  'probe-port': (text) => container({ readinessProbe: { httpGet: { path: '/', port: text } } }),
  'mount-path': (text) => container({ volumeMounts: [{ name: 'a', mountPath: text }] }),
  'volume-name-in-spec': (text) => ({ spec: { volumes: [{ name: text, emptyDir: {} }] } }),
  'service-account': (text) => ({ spec: { serviceAccountName: text } }),
  hostname: (text) => ({ spec: { hostname: text, subdomain: text } }),
  'init-container-name': (text) => ({ spec: { initContainers: [{ ...plainContainer, name: text }] } }),
};

export const hostileFields: readonly HostileField[] = [
  ...plainAnnotations.map((name) => ({
    name,
    parts: (text: string) => ({ metadata: { annotations: { [name]: text } } }),
  })),
  ...Object.entries(within).map(([name, [annotation, whole]]) => ({
    name,
    parts: (text: string) => ({ metadata: { annotations: { [annotation]: whole(text) } } }),
  })),
  ...Object.entries(places).map(([name, parts]) => ({ name, parts })),
];
