import assert from 'node:assert/strict';
import { compileTemplates } from '../injector.ts';
import { parseTemplateConfig } from '../configuration/parse-injector-config.ts';
import { familyOf } from '../configuration/family.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { atOnce } from '../../steps/steps.ts';
import { authorGuard, type AuthorGuard } from './author-guard.ts';
import type { AuthorReads, MapReads } from './author-reads.ts';

function guardOf(templates: Readonly<Record<string, string>>, allow: readonly string[] = []): AuthorGuard {
  const texts = new Map(Object.entries(templates));
  const family = familyOf(istioKeys, texts.values());
  return atOnce(authorGuard(texts, ['{{', '}}'], family, { preset: 'Safe', allow }, {}));
}

function readsOf(sidecar: string): AuthorReads {
  // An analysis of a template that does not compile would be empty.
  atOnce(compileTemplates(parseTemplateConfig(JSON.stringify({ templates: { sidecar } })), ['{{', '}}'], {}));
  return guardOf({ sidecar }).readsOf(['sidecar']);
}

/** Formats names, with `*` after steering and `!` after parsed names. `*` is any other name. */
function shown(reads: MapReads): string[] {
  return [...reads].map(([name, { steers, parsed }]) => `${name}${steers ? '*' : ''}${parsed ? '!' : ''}`).sort();
}

describe('the analysis of a template', () => {
  const annotations: [template: string, reads: string[]][] = [
    ['{{ .Values.a }}', []],
    ['{{ annotation .ObjectMeta "a" .Values.b }}', ['a']],
    ['{{ index .ObjectMeta.Annotations "a" | default "x" | quote }}', ['a']],
    ['{{ .ObjectMeta.Annotations.a }}', ['a']],
    ['{{ if .ObjectMeta.Annotations.a }}x{{ end }}', ['a*']],
    ['{{ with .ObjectMeta.Annotations.a }}{{ . }}{{ end }}', ['a*']],
    ['{{ if eq .ObjectMeta.Annotations.a "x" }}x{{ else }}{{ .ObjectMeta.Annotations.b }}{{ end }}', ['a*', 'b']],
    ['{{ isset .ObjectMeta.Annotations "a" }}', ['a*']],
    ['{{ eq .ObjectMeta.Annotations.a "x" }}', ['a*']],
    ['{{ range $k, $v := fromJSON .ObjectMeta.Annotations.a }}{{ $k }}: {{ $v }}{{ end }}', ['a*!']],
    ['{{ $a := annotation .ObjectMeta "a" "" }}{{ $b := $a }}{{ $b }}', ['a']],
    ['{{ $a := "" }}{{ if .Values.x }}{{ $a = .ObjectMeta.Annotations.a }}{{ end }}{{ if $a }}x{{ end }}', ['a*']],
    ['{{ define "t" }}{{ .Annotations.a }}{{ end }}{{ template "t" .ObjectMeta }}', ['a']],
    ['{{ define "t" }}{{ $.Annotations.a }}{{ template "t" . }}{{ end }}{{ template "t" .ObjectMeta }}', ['a']],
    ['{{ define "t" }}{{ template "t" .Next }}{{ end }}{{ template "t" .Values }}', []],
    ['{{ define "t" }}x{{ end }}{{ template "t" }}', []],
    ['{{ (.ObjectMeta).Annotations.a }}', ['a']],
    ['{{ (index .ObjectMeta.Annotations "a") | upper }}', ['a']],
    ['{{ index .Values.table (index .ObjectMeta.Annotations "a") }}', ['a*']],
    ['{{ $name := "a" }}{{ index .ObjectMeta.Annotations $name }}', ['*']],
    ['{{ index .Values.list 0 }}{{ true }}{{ nil | default "x" }}', []],
    ['{{ toYaml .ObjectMeta.Annotations }}', ['*']],
    ['{{ range $k, $v := .ObjectMeta.Annotations }}{{ $k }}{{ end }}', ['**']],
    ['{{ range .ObjectMeta.Annotations }}{{ . }}{{ break }}{{ else }}none{{ end }}', ['**']],
    ['{{ omit .ObjectMeta.Annotations "a" | toJSON }}{{ annotation .ObjectMeta "b" "" }}', ['b', '*']],
    ['{{ (dict "m" .ObjectMeta.Annotations).m.a }}', ['*']],
    ['{{ $d := dict }}{{ $_ := set $d "k" .ObjectMeta.Annotations.a }}{{ $d.k }}', ['a*']],
    ['{{ .ObjectMeta.String }}', ['*']],
    ['{{ toYaml . }}', ['*', 'proxy.istio.io/config!', 'sidecar.istio.io/proxyImageType']],
    ['{{ .ProxyConfig.Concurrency }}', ['proxy.istio.io/config!']],
    ['{{ .MeshConfig.DefaultConfig.Concurrency }}{{ .MeshConfig.TrustDomain }}', ['proxy.istio.io/config!']],
    ['{{ .ProxyImage }}', ['proxy.istio.io/config!', 'sidecar.istio.io/proxyImageType']],
    ['- name: istio-proxy', ['proxy.istio.io/config*!']],
    [
      '{{ otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels "ns" .Spec.Containers }}',
      ['instance.id', 'namespace', 'version'].map((name) => `resource.opentelemetry.io/service.${name}`),
    ],
  ];
  for (const [template, reads] of annotations) {
    it(`finds annotations in ${template}`, () => {
      assert.deepEqual(shown(readsOf(template).annotations), [...reads].sort());
    });
  }

  it('finds labels', () => {
    const { labels } = readsOf('{{ index .ObjectMeta.Labels "app" }}{{ if .ObjectMeta.Labels.b }}x{{ end }}');
    assert.deepEqual(shown(labels), ['app', 'b*']);
    assert.deepEqual(shown(readsOf('{{ toYaml .ObjectMeta }}').labels), ['*']);
  });

  const fields: [template: string, fields: string[]][] = [
    [
      '{{ .ObjectMeta.Name }}{{ .DeploymentMeta.Name }}{{ .TypeMeta.APIVersion }}',
      ['ObjectMeta.name', 'DeploymentMeta.name', 'TypeMeta.apiVersion'],
    ],
    ['{{ .TypeMeta.String }}', ['TypeMeta']],
    [
      '{{ range $i, $c := .Spec.Containers }}{{ $i }}{{ $c.Name }}{{ range .Ports }}{{ structToJSON . }}{{ end }}{{ end }}',
      ['Spec.containers.*.name', 'Spec.containers.*.ports.*'],
    ],
    ['{{ range $k, $v := .Spec.NodeSelector }}{{ $k }}{{ end }}', ['Spec.nodeSelector']],
    ['{{ (index .Spec.Volumes 0).VolumeSource.Secret.SecretName }}', ['Spec.volumes.*.secret.secretName']],
    ['{{ (index .Spec.Volumes 0).HostPath.Path }}', ['Spec.volumes.*.hostPath.path']],
    ['{{ .Spec.NodeSelector.disk }}', ['Spec.nodeSelector.disk']],
    ['{{ .Spec.ServiceAccountName.x }}', ['Spec.serviceAccountName']],
    ['{{ includeInboundPorts .Spec.Containers }}{{ if .Spec.HostNetwork }}x{{ end }}', []],
    ['{{ .Spec.SecurityContext.String }}', ['Spec.securityContext']],
  ];
  for (const [template, paths] of fields) {
    it(`finds fields in ${template}`, () => {
      const fields = readsOf(template).fields.map((path) => path.join('.'));
      assert.deepEqual(fields, paths);
    });
  }

  it('caches a limited number of template combinations', () => {
    const guard = guardOf({ a: '{{ .ObjectMeta.Name }}' });
    assert.equal(guard.readsOf(['a']), guard.readsOf(['a']));
    for (let index = 0; index < 70; index += 1) guard.readsOf(['a', `other-${index}`]);
    const late = ['a', 'late'];
    assert.notEqual(guard.readsOf(late), guard.readsOf(late));
    assert.deepEqual(guard.readsOf(late), guard.readsOf(['a']));
  });

  it('assumes that a template with too much recursion reads everything', () => {
    const calls = ['A', 'B', 'C', 'D', 'E', 'F'].map((field) => `{{ template "r" .${field} }}`).join('');
    const text = `{{ define "r" }}${calls}{{ . }}{{ end }}{{ template "r" . }}`;
    assert.deepEqual(readsOf(text), readsOf('{{ . }}{{ range fromJson . }}{{ end }}'));
  });

  it('finds nothing for an unknown template', () => {
    const guard = guardOf({}, ['a', 'b/*']);
    assert.deepEqual(guard.readsOf(['none']).fields, []);
    assert.deepEqual(['a', 'b/c', 'c'].map(guard.allows), [true, true, false]);
    assert.match(guard.structural('traffic.sidecar.istio.io/anything') ?? '', /traffic/);
    assert.equal(guard.structural('b/c'), undefined);
    assert.equal(guard.structural('example.com/team'), undefined);
  });
});
