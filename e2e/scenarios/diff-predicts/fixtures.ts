import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { injectorConfig, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import type { Pod } from '../../harness/pod.ts';
import { neverScheduled } from '../../harness/workloads.ts';

/** The suffix of the namespace with Istio's ConfigMaps. */
export const istioNamespace = 'istio';

/** What a configuration puts into its template, apart from what all configurations have. */
export interface Variant {
  readonly image?: string;
  readonly cpu?: string;
  readonly capability?: string;
  readonly rewritesProbes?: boolean;
  readonly isNative?: boolean;
  /** Whether the template fails for pods with label `odd`. */
  readonly fails?: boolean;
  readonly port?: number;
  readonly volume?: string;
  readonly label?: string;
  /** The tag of Istio's templates, which replace the template below. */
  readonly istio?: 'one' | 'two';
}

const template = `
{{- if and (eq .Values.fails "yes") (index .ObjectMeta.Labels "odd") }}{{ .Values.none.such }}{{ end }}
metadata:
  labels:
    mesh.example/name: {{ index .ObjectMeta.Labels "mesh.example/name" | default .DeploymentMeta.Name | quote }}
    mesh.example/label: {{ .Values.label | quote }}
  annotations:
    mesh.example/rev: {{ .Revision | quote }}
    kubectl.kubernetes.io/default-container: {{ (index .Spec.Containers 0).Name }}
spec:
  initContainers:
  - name: istio-init
    image: {{ .Values.image }}
    args: ["-p", "15001", "-u", "1337"]
    securityContext: {capabilities: {add: [{{ .Values.capability }}], drop: [ALL]}, runAsUser: 0}
{{- if not .NativeSidecars }}
  containers:
{{- end }}
  - name: istio-proxy
    image: {{ annotation .ObjectMeta "sidecar.istio.io/proxyImage" .Values.image }}
{{- if .NativeSidecars }}
    restartPolicy: Always
{{- end }}
    ports: [{containerPort: {{ .Values.port }}, name: metrics}]
    resources: {requests: {cpu: {{ .Values.cpu }}}{{ if eq .Values.cpu "1" }}, limits: {memory: 1Gi}{{ end }}}
    readinessProbe: {httpGet: {path: /ready, port: 15021}, periodSeconds: 5}
    env:
    - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: VOLUME, value: {{ .Values.volume | quote }}}
    volumeMounts: [{name: mesh-data, mountPath: /data}]
    securityContext: {capabilities: {add: [{{ .Values.capability }}]}}
  securityContext: {fsGroup: 1337}
  volumes:
  - {name: mesh-data, {{ .Values.volume }}: {}}
  - name: mesh-token
    projected: {sources: [{serviceAccountToken: {path: token, audience: mesh}}]}
`;

export function meshConfig(name: string, variant: Variant): InjectorConfigObject {
  const { image = 'proxy:1', cpu = '100m', capability = 'NET_ADMIN', rewritesProbes = false } = variant;
  const { isNative = false, fails = false, port = 15090, volume = 'emptyDir', label = 'one' } = variant;
  if (variant.istio !== undefined) {
    const from = (map: string, key: string) => {
      return { namespace: `diff-predicts-${istioNamespace}`, name: `${map}-${variant.istio ?? ''}`, key };
    };
    const injection = { configFrom: from('istio-sidecar-injector', 'config'), meshConfigFrom: from('istio', 'mesh') };
    return injectorConfig(name, { injection });
  }
  return injectorConfig(name, {
    injection: {
      templates: { sidecar: template },
      nativeSidecars: isNative ? 'Enabled' : 'Disabled',
      annotationOverrides: { preset: 'Istio' },
      values: {
        ...{ image, cpu, capability, port, volume, label, fails: fails ? 'yes' : 'no', none: fails ? null : {} },
        sidecarInjectorWebhook: { rewriteAppHTTPProbe: rewritesProbes },
      },
    },
  });
}

const loud = { rewritesProbes: true, cpu: '1' };

/** The moves, each from the variant before it. The third value is the expected exit status. */
export const moves: readonly (readonly [what: string, variant: Variant, exitCode: number])[] = [
  ['resources', { cpu: '250m' }, 3],
  ['a template that fails for some pods', { cpu: '250m', fails: true }, 4],
  ['a native sidecar, rewritten probes and a limit', { isNative: true, ...loud }, 3],
  ['an equal configuration', { isNative: true, ...loud }, 0],
  ['a classic sidecar', { rewritesProbes: true }, 3],
  ['capabilities', { rewritesProbes: true, capability: 'NET_RAW' }, 3],
  ['another image', { image: 'proxy:latest' }, 3],
  ['ports', { image: 'proxy:latest', port: 15091 }, 3],
  ['volumes and environment', { volume: 'downwardAPI' }, 3],
  ['labels', { volume: 'downwardAPI', label: 'two', rewritesProbes: true }, 3],
  ['a native sidecar that fails for some pods', { isNative: true, fails: true }, 4],
  ['everything at once', { isNative: true, image: 'proxy:3', cpu: '2', port: 1, capability: 'CHOWN', label: 'x' }, 3],
  ["Istio's templates", { istio: 'one' }, 3],
  ["Istio's templates with another tag", { istio: 'two' }, 3],
];

const probe = { httpGet: { path: '/', port: 'http' }, periodSeconds: 5 };
// The lengths of the lists have no common divisor, so that all combinations occur.
const containers: readonly object[] = [
  {},
  { readinessProbe: probe, ports: [{ name: 'http', containerPort: 8080 }] },
  { livenessProbe: { tcpSocket: { port: 9090 } }, lifecycle: { preStop: { httpGet: { path: '/stop', port: 8081 } } } },
  { resources: { requests: { cpu: '200m', memory: '64Mi' }, limits: { memory: '128Mi' } } },
  { startupProbe: { grpc: { port: 7000 } }, env: [fieldRef('NODE', 'spec.nodeName')] },
  { securityContext: { capabilities: { drop: ['ALL'] } }, volumeMounts: [{ name: 'own', mountPath: '/own' }] },
  { livenessProbe: { exec: { command: ['true'] } }, lifecycle: { postStart: { exec: { command: ['true'] } } } },
  { resources: { limits: { cpu: '500m', memory: '0.5Gi' } }, image: 'app@sha256:0123456789abcdef' + '0'.repeat(48) },
  { startupProbe: probe, livenessProbe: { ...probe, timeoutSeconds: 3 }, ports: [{ name: 'http', containerPort: 80 }] },
  { command: ['sleep'], args: ['1'], envFrom: [{ configMapRef: { name: 'own', optional: true } }] },
  { volumeMounts: [{ name: 'map', mountPath: '/map' }], imagePullPolicy: 'Never', tty: true },
];
const ownProxy = {
  name: 'istio-proxy',
  image: 'auto',
  resources: { requests: { cpu: '300m' } },
  env: [fieldRef('ME', 'metadata.name')],
};
const init = { name: 'setup', image: 'setup:1' };
const specs: readonly { readonly [field: string]: unknown; readonly others?: readonly object[] }[] = [
  {},
  { initContainers: [{ ...init, resources: { requests: { cpu: '3' }, limits: { cpu: '4', memory: '3Gi' } } }] },
  { initContainers: [{ name: 'log', image: 'log:1', restartPolicy: 'Always' }, init] },
  { securityContext: { runAsUser: 1000 }, hostAliases: [{ ip: '10.0.0.1', hostnames: ['own'] }] },
  { others: [ownProxy] },
  { hostNetwork: true },
  { automountServiceAccountToken: false, tolerations: [{ key: 'own', operator: 'Exists' }] },
  {
    others: [{ name: 'second', image: 'second' }],
    affinity: { podAntiAffinity: {} },
    terminationGracePeriodSeconds: 5,
  },
];
const labels: readonly Record<string, string>[] = [
  {},
  { odd: 'yes' },
  { 'mesh.example/name': 'own' },
  { 'app.kubernetes.io/name': 'shop' },
  { 'sidecar.istio.io/inject': 'false' },
];
const annotations: Readonly<Record<number, Record<string, string>>> = {
  2: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090', 'prometheus.io/path': '/m' },
  5: { 'sidecar.istio.io/proxyImage': 'own:1' },
  8: { 'kubectl.kubernetes.io/default-container': 'app', 'mesh.example/rev': 'own' },
  11: { 'sidecar.istio.io/rewriteAppHTTPProbers': 'true', 'traffic.sidecar.istio.io/excludeInboundPorts': '9090' },
};
const volumes = [
  { name: 'own', emptyDir: {} },
  { name: 'map', configMap: { name: 'own', optional: true } },
];
const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'ReplicaSet', 'Pod', 'CronJob'] as const;

function fieldRef(name: string, fieldPath: string): object {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/** Returns workload number `index`; the kinds and the features repeat with different periods. */
export function workload(namespace: string, index: number): KubernetesObject {
  const kind = kinds[index % kinds.length] ?? 'Pod';
  const name = `w${index}`;
  const { others = [], ...own } = specs[index % specs.length] ?? {};
  const spec = {
    ...neverScheduled,
    volumes,
    ...own,
    containers: [{ name: 'app', image: 'app:1', ...containers[index % containers.length] }, ...others],
    ...(kind === 'Job' || kind === 'CronJob' ? { restartPolicy: 'Never' } : {}),
  };
  const marks = { 'example.com/index': String(index), ...annotations[index % 13] };
  const template = { metadata: { labels: { app: name, ...labels[index % labels.length] }, annotations: marks }, spec };
  const metadata = { name, namespace };
  if (kind === 'Pod') return { apiVersion: 'v1', kind, metadata: { ...metadata, ...template.metadata }, spec };
  if (kind === 'CronJob') {
    const jobTemplate = { spec: { template } };
    return { apiVersion: 'batch/v1', kind, metadata, spec: { schedule: '0 0 1 1 *', jobTemplate } };
  }
  if (kind === 'Job') return { apiVersion: 'batch/v1', kind, metadata, spec: { backoffLimit: 1000, template } };
  const selector = { matchLabels: { app: name } };
  const more = {
    Deployment: { replicas: 1 + (index % 3) },
    StatefulSet: { replicas: 2, podManagementPolicy: 'Parallel', serviceName: name },
    ReplicaSet: { replicas: 2 },
    DaemonSet: {},
  }[kind];
  return { apiVersion: 'apps/v1', kind, metadata, spec: { selector, template, ...more } };
}

interface Template {
  readonly metadata: KubernetesObject['metadata'];
  readonly spec: Pod['spec'];
}

/** Returns the pod that a workload creates, without what its controller adds. */
export function podOf(object: KubernetesObject): KubernetesObject & Pod {
  const { name, namespace } = object.metadata;
  type Holder = {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec: { readonly template: Template } };
  };
  const { template, jobTemplate } = object.spec as Holder;
  const { metadata, spec } = template ?? jobTemplate?.spec.template ?? (object as unknown as Template);
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name, namespace }, spec };
}

/** Reports whether a variant with `fails` refuses the pods of a workload. */
export function isOdd(object: KubernetesObject): boolean {
  const { metadata, spec } = podOf(object);
  return metadata.labels?.['odd'] === 'yes' && spec.hostNetwork !== true;
}
