import assert from 'node:assert/strict';
import { compileTemplate } from '../../template/template.ts';
import { functionsOfFamily } from '../../template/functions/go/function-families.ts';
import { loadMeshConfig } from '../mesh/mesh-config.ts';
import { templateValue } from './template-data.ts';

const meshConfig = loadMeshConfig(`
defaultConfig:
  drainDuration: 90s
  concurrency: 0
  interceptionMode: TPROXY
  proxyMetadata: {A: "<x>"}
  extraStatTags: [one, two]
  tracing: {zipkin: {address: "z:1"}, sampling: 12.5, customTags: {t: {literal: {value: v}}}}
connectTimeout: 1500ms
outboundTrafficPolicy: {mode: REGISTRY_ONLY}
`);

const data = templateValue({
  TypeMeta: { apiVersion: 'apps/v1', kind: 'Deployment' },
  DeploymentMeta: { name: 'web', namespace: 'shop' },
  ObjectMeta: {
    name: 'web-1',
    labels: { app: 'web' },
    creationTimestamp: '2026-01-02T03:04:05Z',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' }],
  },
  Spec: {
    containers: [
      {
        name: 'web',
        ports: [{ name: 'http', containerPort: 80 }],
        env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
        resources: { limits: { cpu: '500m' } },
        readinessProbe: { httpGet: { port: 'http' } },
        livenessProbe: { tcpSocket: { port: 81 } },
        securityContext: { runAsUser: 5 },
      },
    ],
    volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }],
    overhead: { cpu: '1' },
  },
  ProxyConfig: meshConfig.defaultConfig,
  MeshConfig: meshConfig,
  Values: { a: { b: 1 } },
  Revision: 'r1',
  NativeSidecars: true,
  ProxyImage: 'proxy:1',
  ProxyInitImage: 'init:1',
  ProxyUID: 1337,
  ProxyGID: 1338,
  InboundTrafficPolicyMode: 'localhost',
  CompliancePolicy: 'strict',
});

function render(template: string): string {
  return compileTemplate(template, { name: 'inject', functions: functionsOfFamily('istio') }).execute(data);
}

describe('templateValue', () => {
  const web = '(index .Spec.Containers 0)';
  const volume = '(index .Spec.Volumes 0)';
  const valueFrom =
    '&EnvVarSource{FieldRef:&ObjectFieldSelector{APIVersion:,FieldPath:metadata.name,},ResourceFieldRef:nil,ConfigMapKeyRef:nil,SecretKeyRef:nil,FileKeyRef:nil,}';
  const tracing = 'zipkin:{address:"z:1"}  custom_tags:{key:"t"  value:{literal:{value:"v"}}}  sampling:12.5';
  const rows: [template: string, output: string][] = [
    ['{{ .TypeMeta.Kind }} {{ .TypeMeta }}', 'Deployment &TypeMeta{Kind:Deployment,APIVersion:apps/v1,}'],
    ['{{ .DeploymentMeta.Name }} {{ .DeploymentMeta }}', 'web shop/web'],
    ['{{ .ObjectMeta.Labels.app }}{{ .ObjectMeta.Annotations.none }}', 'web<no value>'],
    ['{{ .ObjectMeta.CreationTimestamp }}', '2026-01-02 03:04:05 +0000 UTC'],
    ['{{ .ObjectMeta.CreationTimestamp.IsZero }} {{ .ObjectMeta.CreationTimestamp.Unix }}', 'false 1767323045'],
    ['{{ .ObjectMeta.DeletionTimestamp }}', '<nil>'],
    [`{{ with ${web} }}{{ .Name }}:{{ (index .Ports 0).ContainerPort }}{{ end }}`, 'web:80'],
    [`{{ ${web}.ReadinessProbe.HTTPGet.Port }} {{ ${web}.LivenessProbe.TCPSocket.Port.IntValue }}`, 'http 81'],
    [`{{ with ${web}.ReadinessProbe.HTTPGet.Port }}{{ .Type }}{{ .StrVal }}{{ end }}`, '1http'],
    [`{{ with ${web} }}{{ .SecurityContext.RunAsUser }} {{ .StartupProbe }}{{ end }}`, '5 nil'],
    [`{{ ${web}.Env }}`, `[{A  ${valueFrom}}]`],
    [`{{ ${volume}.EmptyDir }}`, '&EmptyDirVolumeSource{Medium:,SizeLimit:1Gi,}'],
    [`{{ ${volume}.EmptyDir.SizeLimit.String }}`, '1Gi'],
    [`{{ structToJSON ${web}.Resources }}`, '{"limits":{"cpu":"500m"}}'],
    ['{{ toJsonMap .ObjectMeta.Labels }}', '{"app":"web"}'],
    ['{{ .ProxyConfig.InterceptionMode }} {{ eq .ProxyConfig.InterceptionMode 1 }}', 'TPROXY true'],
    ['{{ .ProxyConfig.Concurrency.Value }} {{ .ProxyConfig.Concurrency }}', '0 '],
    ['{{ .ProxyConfig.GetConcurrency.GetValue }} {{ .ProxyConfig.GetStatsCompression.GetValue }}', '0 false'],
    ['{{ with .ProxyConfig.DrainDuration }}{{ . }} {{ .Seconds }} {{ .AsDuration }}{{ end }}', 'seconds:90 90 1m30s'],
    ['{{ formatDuration .ProxyConfig.TerminationDrainDuration }}', '5s'],
    ['{{ .ProxyConfig.Tracing.GetZipkin.GetAddress }} {{ .ProxyConfig.Tracing.Sampling }}', 'z:1 12.5'],
    ['{{ .ProxyConfig.GetTracing.GetTlsSettings.GetMode }}', 'DISABLE'],
    ['{{ .ProxyConfig.GetServiceCluster }}', 'istio-proxy'],
    ['{{ index .ProxyConfig.ExtraStatTags 1 }}', 'two'],
    ['{{ protoToJSON .MeshConfig.OutboundTrafficPolicy }}', '{}'],
    ['{{ .MeshConfig.ConnectTimeout.Nanos }} {{ .MeshConfig.ConnectTimeout }}', '500000000 seconds:1 nanos:500000000'],
    ['{{ .MeshConfig.DefaultConfig.GetStatusPort }} {{ .MeshConfig.LocalityLbSetting }}', '15020 enabled:{value:true}'],
    [`{{ structToJSON ${volume} }}`, '{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}'],
    ['{{ structToJSON .Spec.Overhead }}', '{"cpu":"1"}'],
    [`{{ structToJSON ${web}.LivenessProbe }}`, '{"tcpSocket":{"port":81}}'],
    [`{{ structToJSON ${web}.ReadinessProbe }}`, '{"httpGet":{"port":"http"}}'],
    [`{{ ${web}.ReadinessProbe.HTTPGet.Port.IntValue }}`, '0'],
    ['{{ .ObjectMeta.OwnerReferences }}', '[{apps/v1 ReplicaSet web u <nil> <nil>}]'],
    ['{{ range .MeshConfig.ExtensionProviders }}{{ .Name }} {{ end }}', 'prometheus stackdriver envoy '],
    ['{{ index .MeshConfig.ExtensionProviders 0 }}', 'name:"prometheus"  prometheus:{}'],
    ['{{ .MeshConfig.DefaultConfig.ExtraStatTags }}', '[one two]'],
    ['{{ with .MeshConfig.ConnectTimeout.AsDuration }}{{ .Seconds }} {{ .Milliseconds }}{{ end }}', '1.5 1500'],
    ['{{ .ProxyConfig.Tracing }}', tracing],
    ['{{ .ProxyConfig.Tracing.CustomTags }}', 'map[t:literal:{value:"v"}]'],
    ['{{ .ProxyUID }}:{{ .ProxyGID }} {{ .NativeSidecars }}', '1337:1338 true'],
    ['{{ .InboundTrafficPolicyMode }} {{ .CompliancePolicy }}', 'localhost strict'],
    ['{{ .Values.a.b }} {{ .Revision }} {{ .ProxyImage }} {{ .ProxyInitImage }}', '1 r1 proxy:1 init:1'],
  ];
  for (const [template, output] of rows) {
    it(`renders ${template}`, () => {
      assert.equal(render(template), output);
    });
  }

  it('omits proxy defaults from ProxyConfig', () => {
    assert.equal(
      render('{{ protoToJSON .ProxyConfig }}'),
      '{"drainDuration":"90s","concurrency":0,"interceptionMode":"TPROXY","tracing":{"zipkin":{"address":"z:1"},"customTags":{"t":{"literal":{"value":"v"}}},"sampling":12.5},"proxyMetadata":{"A":"\\u003cx\\u003e"},"extraStatTags":["one","two"]}',
    );
  });

  it('prints a container', () => {
    const text = render('{{ printf "%v" (index .Spec.Containers 0).String }}');
    assert.match(
      text,
      /^&Container\{Name:web,Image:,Command:\[\],.*Ports:\[\]ContainerPort\{ContainerPort\{Name:http,HostPort:0,ContainerPort:80,/,
    );
    assert.match(text, /Limits:ResourceList\{cpu: 500m,\}/);
    assert.match(text, /RunAsUser:\*5,/);
  });

  const holds = '{{ .ProxyConfig.HoldApplicationUntilProxyStarts.Value }}';
  const failing: [template: string, message: RegExp][] = [
    ['{{ .NoSuchField }}', /can't evaluate field NoSuchField in type \*inject\.SidecarTemplateData/],
    ['{{ .Spec.Nothing }}', /can't evaluate field Nothing in type v1\.PodSpec/],
    ['{{ .ProxyConfig.ServiceCluster }}', /can't evaluate field ServiceCluster in type \*v1alpha1\.ProxyConfig/],
    [holds, /nil pointer evaluating \*wrapperspb\.BoolValue\.Value/],
  ];
  for (const [template, message] of failing) {
    it(`fails like Go: ${template}`, () => {
      assert.throws(() => render(template), message);
    });
  }
});
