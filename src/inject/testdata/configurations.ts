import { istioKeys, type WebhookKeys } from '../../api/injector-config/webhook-keys.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';

/** A proxy template that exercises everything the engine handles specially. */
const proxyTemplate = `
metadata:
  labels:
    mesh.example/app: {{ index .ObjectMeta.Labels "app" | default .DeploymentMeta.Name | quote }}
  annotations:
    mesh.example/containers: "{{ range $index, $container := .Spec.Containers }}{{ if $index }},{{ end }}{{ $container.Name }}{{ end }}"
spec:
  {{- $native := .NativeSidecars }}
  initContainers:
  - name: istio-init
    image: {{ .ProxyInitImage | quote }}
    args: ["-u", "{{ .ProxyUID }}", "-i", {{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" "*" | quote }}]
  {{- if $native }}
  - name: istio-proxy
    restartPolicy: Always
  {{- else }}
  containers:
  - name: istio-proxy
  {{- end }}
    image: {{ .ProxyImage | quote }}
    env:
    - name: PROXY_CONFIG
      value: {{ protoToJSON .ProxyConfig | quote }}
    resources:
      requests: {cpu: 1000m, memory: 1024Mi}
    securityContext: {runAsUser: {{ .ProxyUID }}}
  volumes:
  - name: proxy-run
    emptyDir: {}
`;

const logTemplate = `
metadata:
  annotations: {logs.example/collected: "true"}
spec:
  containers:
  - name: log-collector
    image: logs:1
    volumeMounts: [{name: logs, mountPath: /logs}]
  volumes:
  - name: logs
    emptyDir: {}
`;

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}

/** A family with a proxy and a log collector. */
export const proxyFiles: ConfigurationFiles = {
  config: `policy: enabled\ntemplates:\n  sidecar: |${indented(proxyTemplate)}\n  log: |${indented(logTemplate)}\naliases: {all: [sidecar, log]}\n`,
  values: JSON.stringify({
    global: { hub: 'registry.example/mesh', tag: 'v1', multiCluster: { clusterName: 'east' } },
    sidecarInjectorWebhook: { rewriteAppHTTPProbe: true },
  }),
  mesh: 'defaultConfig: {concurrency: 2}\n',
  settings: JSON.stringify({ revision: 'r1' }),
};

export const logKeys: WebhookKeys = {
  ...istioKeys,
  inject: 'logs.example/inject',
  revision: 'logs.example/rev',
  status: 'logs.example/status',
};

/** A second family: a log collector without a mesh. */
export const logFiles: ConfigurationFiles = {
  config: `policy: enabled\ntemplates:\n  sidecar: |${indented(logTemplate)}\n`,
  values: '',
  mesh: '',
  settings: JSON.stringify({ revision: 'logs-1', keys: logKeys }),
};

/** A template in the Istio 1.x format. */
export const legacyFiles: ConfigurationFiles = {
  config: `policy: enabled
template: |
  rewriteAppHTTPProbe: true
  initContainers:
  - name: istio-init
    image: init:1
    args: ["-u", "1337", "-b", [[ includeInboundPorts .Spec.Containers | quote ]]]
  containers:
  - name: collector
    image: collector:[[ .Values.tag ]]
  - name: istio-proxy
    image: proxy:1
  volumes:
  - name: run
    emptyDir: {medium: Memory}
  podRedirectAnnot:
    redirect.example/mode: [[ .ProxyConfig.InterceptionMode ]]
`,
  values: '{"tag": "2"}',
  mesh: '',
  settings: JSON.stringify({ revision: 'r0', delimiters: ['[[', ']]'] }),
};
