package main

// ownSetups are our configurations, which together reach all branches of Istio's pipeline.
var ownSetups = []Setup{
	{Name: "native", Revision: "canary", NativeSidecars: "enabled", Config: config("policy: enabled", sidecar), Values: `
global:
  hub: registry.example/mesh
  tag: 1.2.3
  network: east
  multiCluster: {clusterName: first}
sidecarInjectorWebhook: {rewriteAppHTTPProbe: true}
`, Mesh: `
defaultConfig:
  proxyMetadata: {ZONE: a, LEVEL: info}
  proxyHeaders: {server: {disabled: true}, requestId: {disabled: true}}
`},
	{Name: "classic", Revision: "default", NativeSidecars: "disabled", Config: config("policy: enabled\ninjectedAnnotations: {team: core, sidecar.istio.io/status: taken, count: '7'}", sidecar, always), Values: `
global: {hub: registry.example, tag: 1.2-debug, variant: distroless}
sidecarInjectorWebhook: {rewriteAppHTTPProbe: true}
`, Mesh: "inboundTrafficPolicy: {mode: LOCALHOST}\n"},
	{Name: "hold", Revision: "", NativeSidecars: "disabled", Config: config("policy: enabled\ndefaultTemplates: [sidecar, check]", sidecar, cni), Values: `
global: {tag: 1.10, variant: debug, proxy: {image: envoy}, proxy_init: {image: setup}}
sidecarInjectorWebhook: {rewriteAppHTTPProbe: false}
`, Mesh: "defaultConfig: {holdApplicationUntilProxyStarts: true, statusPort: 15999, image: {imageType: distroless}}\n"},
	{Name: "hold-values", Revision: "stable", NativeSidecars: "disabled", Config: config("policy: enabled\ndefaultTemplates: [check]", sidecar, cni), Values: `
global: {hub: "", tag: 7, proxy: {holdApplicationUntilProxyStarts: true}, network: ""}
`, Mesh: "enablePrometheusMerge: false\ndefaultConfig: {image: {imageType: default}}\n"},
	{Name: "gateway", Revision: "default", NativeSidecars: "enabled", Config: config("policy: enabled\ndefaultTemplates: [gateway]", gateway, sidecar), Values: `
global: {hub: registry.example, tag: latest-distroless, variant: default}
sidecarInjectorWebhook: {rewriteAppHTTPProbe: true}
`, Mesh: "defaultConfig: {proxyMetadata: {ENVOY_SECURE_MERGED_METRICS_PORT: \"15091\"}}\n"},
	{Name: "aliases", Revision: "default", NativeSidecars: "enabled", Config: config(`policy: enabled
defaultTemplates: [both, words]
aliases:
  both: [sidecar, extra]
  none: []
  again: [both]
  twice: [sidecar, sidecar]`, sidecar, extra, words), Values: "{}", Mesh: "{}"},
	{Name: "extras", Revision: "default", NativeSidecars: "disabled", Config: config(`policy: enabled
defaultTemplates: [sidecar, extra]
aliases: {sidecar: [sidecar, check], extra: [extra], plain: [sidecar]}`, sidecar, extra, cni, broken, sparse), Values: `
global: {hub: r, tag: v1, network: west}
sidecarInjectorWebhook: {rewriteAppHTTPProbe: true}
`, Mesh: "defaultConfig: {interceptionMode: TPROXY, statusPort: 15021}\n"},
	{Name: "selectors", Revision: "default", NativeSidecars: "disabled", Config: config(`policy: disabled
neverInjectSelector:
- matchExpressions: [{key: app, operator: Sometimes, values: [a]}]
- {}
- matchExpressions: [{key: app, operator: In, values: [job, yes, 1]}]
- matchLabels: {"bad key!": x}
- matchExpressions: [{key: team, operator: Exists}, {key: app, operator: NotIn, values: [web]}]
alwaysInjectSelector:
- matchExpressions: [{key: app, operator: In, values: []}]
- matchExpressions: [{key: level, operator: In, values: [on, 2, 1.50, 010]}]
- matchLabels: {app: web}
- matchExpressions: [{key: zone, operator: DoesNotExist}, {key: app, operator: Exists}]`, sidecar), Values: `
global: {hub: r, tag: v1}
`, Mesh: "{}"},
	{Name: "selectors-enabled", Revision: "default", NativeSidecars: "enabled", Config: config(`policy: enabled
neverInjectSelector:
- matchExpressions: [{key: app, operator: Exists, values: [a]}]
- matchLabels: {app: job}
- matchExpressions: [{key: level, operator: In, values: [off, 0x10, ~, 1e3]}]
alwaysInjectSelector:
- matchLabels: {app: job, team: "1"}`, sidecar), Values: "global: {tag: true, hub: '5'}", Mesh: "{}"},
	{Name: "odd-policy", Revision: "default", NativeSidecars: "disabled", Config: config("policy: sometimes\nalwaysInjectSelector: [{matchLabels: {app: web}}]", sidecar), Values: "{}", Mesh: "{}"},
	{Name: "plain", Revision: "1-2", NativeSidecars: "enabled", Config: config("policy: enabled\ninjectedAnnotations: {prometheus.io/port: '1', empty: ''}", sidecar, extra, always), Values: `
global: {hub: h, tag: t-debug-distroless, variant: "", multiCluster: {clusterName: ""}}
sidecarInjectorWebhook: {rewriteAppHTTPProbe: false}
`, Mesh: "enablePrometheusMerge: true\ninboundTrafficPolicy: {mode: PASSTHROUGH}\ndefaultConfig: {holdApplicationUntilProxyStarts: false}\n"},
}

// template is a template of a configuration.
type template struct{ name, text string }

func config(head string, templates ...template) string {
	result := head + "\ntemplates:\n"
	for _, one := range templates {
		result += "  " + one.name + ": |\n" + indented(one.text)
	}
	return result
}

// sidecar is a proxy with all parts that post-processing reads, native or not.
var sidecar = template{"sidecar", `
{{- $native := .NativeSidecars }}
{{- $asked := annotation .ObjectMeta "sidecar.istio.io/nativeSidecar" "" }}
{{- if eq $asked "true" }}{{ $native = true }}{{ else if eq $asked "false" }}{{ $native = false }}{{ end }}
metadata:
  labels: {kind: {{ .TypeMeta.Kind | quote }}, owner: {{ .DeploymentMeta.Name | trunc 60 | quote }}}
  annotations: {api: {{ .TypeMeta.APIVersion | quote }}, traffic: {{ .InboundTrafficPolicyMode }}, apps: "{{ range .Spec.Containers }}{{ .Name }} {{ end }}", inits: "{{ range .Spec.InitContainers }}{{ .Name }} {{ end }}", scraped: {{ index .ObjectMeta.Annotations "prometheus.io/port" | default "none" | quote }}}
spec:
  initContainers:
  - name: istio-init
    image: {{ .ProxyInitImage | quote }}
    args: [-p, "15001", -u, "{{ .ProxyUID }}", -m, {{ annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode | quote }}]
    securityContext: {runAsUser: 0, runAsGroup: 0}
  {{- if $native }}
  - name: istio-proxy
    restartPolicy: Always
  {{- else }}
  containers:
  - name: istio-proxy
  {{- end }}
    image: {{ .ProxyImage | quote }}
    securityContext: {runAsUser: {{ .ProxyUID }}, runAsGroup: {{ .ProxyGID }}}
    ports: [{containerPort: 15090, protocol: TCP, name: metrics}]
    readinessProbe: {httpGet: {path: /ready, port: 15021}}
    env:
    - {name: CONFIG, value: {{ protoToJSON .ProxyConfig | quote }}}
    - {name: ISTIO_META_CLUSTER_ID, value: "{{ valueOrDefault .Values.cluster "none" }}"}
    {{- range $name, $value := .ProxyConfig.ProxyMetadata }}
    - {name: {{ $name }}, value: {{ $value | quote }}}
    {{- end }}
  volumes: [{name: certs, emptyDir: {medium: Memory}}]
  securityContext: {fsGroup: 1337}
`}

// cni is a template with the containers for CNI and core dumps.
var cni = template{"check", `
spec:
  initContainers:
  - {name: enable-core-dump, image: dump, securityContext: {privileged: true}}
  - {name: istio-validation, image: {{ .ProxyImage | quote }}, args: [-u]}
  containers:
  - {name: istio-proxy, image: {{ .ProxyImage | quote }}, args: [proxy]}
`}

// gateway is a template for pods whose author writes the proxy's container.
var gateway = template{"gateway", `
metadata:
  labels: {gateway: {{ .ObjectMeta.Namespace | default "none" | quote }}}
spec:
  securityContext: {sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: "0"}]}
  containers:
  - name: istio-proxy
    image: {{ .ProxyImage | quote }}
    {{- range $name, $value := .ProxyConfig.ProxyMetadata }}
    env: [{name: {{ $name }}, value: {{ $value | quote }}}]
    {{- end }}
    ports: [{containerPort: 15090, protocol: TCP, name: metrics}]
`}

// extra is a template that adds all parts of the status, and changes the author's containers.
var extra = template{"extra", `
metadata: {labels: {extra: "yes"}, annotations: {extra: {{ .Revision | quote }}}}
spec:
  imagePullSecrets: [{name: registry}, {name: shared}]
  volumes: [{name: data, configMap: {name: data}}, {name: shared, emptyDir: {}}]
  containers:
  - {name: log, image: "log:1", volumeMounts: [{name: shared, mountPath: /shared}]}
  - {name: web, env: [{name: EXTRA, value: "{{ len .Spec.Containers }}"}]}
  initContainers: [{name: first, image: "first:1"}]
`}

var words = template{"words", `
metadata:
  annotations:
    network: {{ index .ObjectMeta.Labels "topology.istio.io/network" | default "none" | quote }}
    defaults: "{{ .ProxyConfig.StatNameLength }} {{ .ProxyConfig.ProxyAdminPort }} {{ .ProxyConfig.StatusPort }} {{ .ProxyConfig.DiscoveryAddress }} {{ .ProxyConfig.BinaryPath }} {{ .ProxyConfig.ConfigPath }}"
    status: {{ hasKey (.ObjectMeta.Annotations | default dict | toJson | fromJson) "sidecar.istio.io/status" | quote }}
`}

var broken = template{"broken", "spec: {containers: [{name: a, {{ .ObjectMeta.Name | quote }}]}\n"}

// always is a template with a native proxy, independent of the pod.
var always = template{"always", `
spec: {initContainers: [{name: istio-proxy, image: proxy, restartPolicy: Always, env: [{name: APPS, value: "{{ len .Spec.Containers }}"}]}]}
`}

// sparse is a template that is empty for most pods, and fails for some.
var sparse = template{"sparse", `{{ if eq (annotation .ObjectMeta "fail" "") "now" }}{{ fail "no such thing" }}{{ end }}`}

func indented(text string) string {
	result := ""
	for _, line := range splitLines(text) {
		result += "    " + line + "\n"
	}
	return result
}
