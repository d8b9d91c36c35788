import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { injectorConfig, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import { neverScheduled } from '../../harness/workloads.ts';

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
    image: {{ .Values.image }}
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

/** The moves, each from the variant before it. The third value is the expected exit status. */
export const moves: readonly (readonly [what: string, variant: Variant, exitCode: number])[] = [
  ['resources', { cpu: '250m' }, 3],
  ['the image', { cpu: '250m', image: 'proxy:2' }, 3],
  ['rewritten probes and a limit', { rewritesProbes: true, cpu: '1' }, 3],
  ['a native sidecar', { isNative: true, rewritesProbes: true, cpu: '1' }, 3],
  ['an equal configuration', { isNative: true, rewritesProbes: true, cpu: '1' }, 0],
  ['a template that fails for some pods', { isNative: true, fails: true }, 4],
  ['a classic sidecar', { rewritesProbes: true }, 3],
  ['capabilities', { rewritesProbes: true, capability: 'NET_RAW' }, 3],
  ['another image', { image: 'proxy:latest' }, 3],
  ['ports', { image: 'proxy:latest', port: 15091 }, 3],
  ['volumes and environment', { volume: 'downwardAPI' }, 3],
  ['labels', { volume: 'downwardAPI', label: 'two', rewritesProbes: true }, 3],
  ['everything at once', { isNative: true, image: 'proxy:3', cpu: '2', port: 1, capability: 'CHOWN', label: 'x' }, 3],
];

const probe = { httpGet: { path: '/', port: 'http' }, periodSeconds: 5 };
const containers: readonly object[] = [
  {},
  { readinessProbe: probe, ports: [{ name: 'http', containerPort: 8080 }] },
  { livenessProbe: { tcpSocket: { port: 9090 } }, lifecycle: { preStop: { httpGet: { path: '/stop', port: 8081 } } } },
  { resources: { requests: { cpu: '200m', memory: '64Mi' }, limits: { memory: '128Mi' } } },
  {
    startupProbe: { grpc: { port: 7000 } },
    env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
  },
  {
    securityContext: { runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'own', mountPath: '/own' }],
  },
];
const specs: readonly object[] = [
  {},
  { initContainers: [{ name: 'setup', image: 'setup:1' }] },
  { initContainers: [{ name: 'log', image: 'log:1', restartPolicy: 'Always' }] },
  { securityContext: { runAsUser: 1000 } },
  { hostNetwork: true },
];
const labels: readonly Record<string, string>[] = [
  {},
  { odd: 'yes' },
  { 'mesh.example/name': 'own' },
  {},
  { 'sidecar.istio.io/inject': 'false' },
];
const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'ReplicaSet', 'Pod', 'CronJob'] as const;

/** Returns workload number `index`; the kinds and the features repeat with different periods. */
export function workload(namespace: string, index: number): KubernetesObject {
  const kind = kinds[index % kinds.length] ?? 'Pod';
  const name = `w${index}`;
  const own = { app: name, ...labels[index % labels.length] };
  const container = { name: 'app', image: 'app:1', ...containers[index % containers.length] };
  const spec = {
    ...neverScheduled,
    volumes: [{ name: 'own', emptyDir: {} }],
    ...specs[index % specs.length],
    containers: [container],
    ...(kind === 'Job' || kind === 'CronJob' ? { restartPolicy: 'Never' } : {}),
  };
  const template = { metadata: { labels: own, annotations: { 'example.com/index': String(index) } }, spec };
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
