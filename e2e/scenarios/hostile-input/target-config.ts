import type { InjectorConfigObject } from '../../harness/injector-configs.ts';

/** A proxy's template in small: it reads labels, annotations and containers of the pod, and brings the checks that go with a proxy. */
export const targetConfig: InjectorConfigObject = {
  apiVersion: 'sidecar-injector.io/v1alpha1',
  kind: 'InjectorConfig',
  metadata: { name: 'hostile-target' },
  spec: {
    injection: {
      templates: {
        sidecar: `
spec:
  initContainers:
  - name: istio-init
    image: example.com/init:1
    args: [{{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" "*" | quote }}]
  containers:
  - name: istio-proxy
    image: example.com/proxy:1
    args:
    - --concurrency
    - {{ .ProxyConfig.Concurrency | default 2 | quote }}
    {{- range .Spec.Containers }}
    - {{ .Name | quote }}
    {{- end }}
    env:
    - name: NOTE
      value: {{ annotation .ObjectMeta "example.com/guard-note" "none" | quote }}
    - name: APP
      value: {{ index .ObjectMeta.Labels "app" | quote }}
    - name: CONTAINERS
      value: {{ len .Spec.Containers | quote }}
    command: [proxy]
`,
      },
    },
  },
};
