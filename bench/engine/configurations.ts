import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { istioKeys } from '../../src/api/injector-config/webhook-keys.ts';
import { reviewOf, sizedPods } from './pods.ts';

const settings = JSON.stringify({
  revision: 'default',
  delimiters: ['{{', '}}'],
  nativeSidecars: 'Disabled',
  keys: istioKeys,
  pathEnvironment: {},
});

/** A small template of our own that injects a proxy, so that the steps after the merge run too. */
const proxyTemplate = [
  'policy: enabled',
  'defaultTemplates: [proxy]',
  'templates:',
  '  proxy: |',
  '    metadata:',
  '      labels:',
  '        service.istio.io/canonical-name: {{ index .ObjectMeta.Labels "app" | default .DeploymentMeta.Name | quote }}',
  '    spec:',
  '      containers:',
  '      - name: istio-proxy',
  '        image: {{ annotation .ObjectMeta "sidecar.istio.io/proxyImage" .ProxyImage | quote }}',
  '        args: [proxy, sidecar, --domain, "{{ .DeploymentMeta.Namespace }}.svc"]',
  '        env:',
  '        - name: PORTS',
  '          value: {{ includeInboundPorts .Spec.Containers | quote }}',
  '        {{- range $name, $value := .ProxyConfig.ProxyMetadata }}',
  '        - {name: {{ $name }}, value: {{ $value | quote }}}',
  '        {{- end }}',
  '        resources: {{ toYaml .Values.resources | nindent 10 }}',
].join('\n');

const ownConfiguration: ConfigurationFiles = {
  config: proxyTemplate,
  values:
    '{"global": {"hub": "registry.example.com", "tag": "1"}, "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}',
  mesh: 'defaultConfig: {proxyMetadata: {A: "1", B: "2"}}',
  settings,
};

/** Returns a copy of the configuration that uses annotation preset Safe. */
export function safe(files: ConfigurationFiles): ConfigurationFiles {
  const annotationOverrides = { preset: 'Safe', allow: [] };
  return { ...files, settings: JSON.stringify({ ...(JSON.parse(files.settings) as object), annotationOverrides }) };
}

/** Returns the configuration and the review from a folder of golden data, or our own ones. */
export function setup(golden: string | undefined): { files: ConfigurationFiles; review: string } {
  return golden === undefined
    ? { files: ownConfiguration, review: reviewOf(sizedPods(2, 10)(0)) }
    : recordedSetup(golden);
}

/** Returns Istio's default configuration and a recorded review from a folder of golden data. */
function recordedSetup(folder: string): { files: ConfigurationFiles; review: string } {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const { config, values, meshConfigMapKey } = JSON.parse(read('inj-096-hello.yaml/case.json')) as Record<
    string,
    string
  >;
  return {
    files: { config: read(config ?? ''), values: read(values ?? ''), mesh: read(meshConfigMapKey ?? ''), settings },
    review: read('review.json'),
  };
}
