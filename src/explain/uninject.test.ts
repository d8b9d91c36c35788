import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inject } from '../inject/inject.ts';
import { loadInjector } from '../inject/injector.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { podChanges } from './pod-changes.ts';
import { uninjectPod } from './uninject.ts';

const template = `
metadata:
  labels:
    service.istio.io/canonical-name: {{ index .ObjectMeta.Labels "service.istio.io/canonical-name" | default "none" }}
    security.istio.io/tlsMode: istio
  annotations:
    istio.io/rev: {{ .Revision | default "default" }}
    {{- if not (isset .ObjectMeta.Annotations "first") }}
    first: "{{ (index .Spec.Containers 0).Name }}"
    {{- end }}
    ports: '{{ appendMultusNetwork (index .ObjectMeta.Annotations "ports") "default/istio-cni" }}'
spec:
  initContainers:
  - {name: istio-init, image: init}
  containers:
  - {name: istio-proxy, image: proxy, env: [{name: A, value: b}]}
  securityContext: {fsGroup: 1337}
  tolerations: [{key: mesh, operator: Exists}]
  volumes:
  - {name: istio-data, emptyDir: {}}
`;
const injector = loadInjector({
  config: JSON.stringify({ policy: 'enabled', defaultTemplates: ['sidecar'], templates: { sidecar: template } }),
  values: '{"sidecarInjectorWebhook":{"rewriteAppHTTPProbe":true}}',
  mesh: '',
  settings: JSON.stringify({
    delimiters: ['{{', '}}'],
    nativeSidecars: 'Disabled',
    revision: 'default',
    pathEnvironment: {},
  }),
});
const request = { namespace: 'shop', path: '/inject' };
const by = { injector, request };

function injected(pod: JsonObject): JsonObject {
  const result = inject(injector, { ...request, pod });
  assert.ok(result.outcome === 'injected', JSON.stringify(result));
  return result.pod;
}

function pod(container: object = {}, metadata: object = {}, spec: object = {}): JsonObject {
  return {
    metadata: { name: 'p', ...metadata },
    spec: { containers: [{ name: 'web', image: 'web', ...container }], ...spec },
  };
}

const ports = [{ name: 'http', containerPort: 80 }];
const named = { httpGet: { path: '/', port: 'http' } };
const rows: [title: string, pod: JsonObject, lost: string[]][] = [
  ['a plain pod', pod(), []],
  ['own labels and annotations', pod({}, { labels: { app: 'web' }, annotations: { a: 'b', ports: 'own' } }), []],
  ['a label that the template only passes on', pod({}, { labels: { 'service.istio.io/canonical-name': 'own' } }), []],
  ['an annotation that the template would not write', pod({}, { annotations: { first: 'other' } }), []],
  [
    'probes and hooks of all kinds',
    pod({
      readinessProbe: { httpGet: { path: '/r', port: 8080, scheme: 'HTTPS' }, periodSeconds: 3 },
      livenessProbe: { tcpSocket: { port: 9 }, timeoutSeconds: 2 },
      startupProbe: { grpc: { port: 7 } },
      lifecycle: { preStop: { httpGet: { path: '/s', port: 8080 } }, postStart: { exec: { command: ['x'] } } },
    }),
    [],
  ],
  ['a named port', pod({ ports, readinessProbe: named }), ['spec.containers[web].readinessProbe.httpGet.port']],
  [
    'a named port of a native sidecar',
    pod({}, {}, { initContainers: [{ name: 'own', restartPolicy: 'Always', ports, startupProbe: named }] }),
    ['spec.initContainers[own].startupProbe.httpGet.port'],
  ],
  [
    'Prometheus annotations',
    pod({}, { annotations: { 'prometheus.io/port': '9100', 'prometheus.io/path': '/m' } }),
    ['metadata.annotations["prometheus*'],
  ],
  [
    'an own proxy container',
    pod(
      {},
      {},
      { containers: [{ name: 'web' }, { name: 'istio-proxy', image: 'auto', resources: { limits: { cpu: '1' } } }] },
    ),
    ['spec.containers'],
  ],
  [
    'a volume of the same name with another source',
    pod({}, {}, { volumes: [{ name: 'istio-data', hostPath: { path: '/' } }] }),
    [],
  ],
  [
    'own init containers and a security context',
    pod({}, {}, { initContainers: [{ name: 'i' }], securityContext: { runAsUser: 1 } }),
    [],
  ],
];

describe('uninjectPod', () => {
  for (const [title, before, lost] of rows) {
    it(`restores ${title}`, () => {
      const result = uninjectPod(injected(before), by);
      assert.deepEqual(podChanges(result.pod, before), []);
      assert.deepEqual([result.isInjected, result.lost.map(({ field }) => field)], [true, lost]);
      const again = uninjectPod(injected(injected(before)), by);
      assert.deepEqual(podChanges(again.pod, before), []);
    });
  }

  it('names what a template overwrites, and a probe without a record', () => {
    const tolerated = uninjectPod(injected(pod({}, {}, { tolerations: [{ key: 'own' }] })), by);
    assert.ok(tolerated.overwritten.includes('spec.tolerations'));
    const probe = { httpGet: { path: '/x', port: 'nowhere' } };
    const { pod: result, lost } = uninjectPod(injected(pod({ readinessProbe: probe })), by);
    assert.deepEqual(
      lost.map(({ field }) => field),
      ['spec.containers[web].readinessProbe'],
    );
    assert.match(JSON.stringify(result), /app-health/);
  });

  it('removes what Istio adds without a configuration', () => {
    const before = pod({}, { labels: { app: 'web', 'service.istio.io/canonical-name': 'other' } });
    const after = injected(before);
    const extra = { 'kubectl.kubernetes.io/default-container': 'web', 'sidecar-injector.io/config': 'a.01234567' };
    const metadata = {
      ...(after.metadata as JsonObject),
      annotations: { ...(after.metadata as { annotations: object }).annotations, ...extra },
    };
    const { pod: result, isInjected } = uninjectPod({ ...after, metadata });
    assert.equal(isInjected, true);
    assert.deepEqual(result.metadata, {
      name: 'p',
      ...(before.metadata as object),
      annotations: { first: 'web', ports: 'default/istio-cni' },
    });
    assert.deepEqual((result.spec as JsonObject).containers, [{ name: 'web', image: 'web' }]);
  });

  it('returns a pod that is not injected, or only by another family, as it is', () => {
    const plain = pod();
    assert.equal(uninjectPod(plain).pod, plain);
    const other = pod({}, { annotations: { 'logs.example/status': '{"initContainers":null,"containers":["web"]}' } });
    assert.equal(uninjectPod(other, by).pod, other);
    assert.deepEqual((uninjectPod(other).pod.spec as JsonObject).containers, []);
  });

  it('has a result for any forged record', () => {
    const any = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom('{"containers":1}', '{"containers":["web"]}', 'null', '[]'),
    );
    const keys = ['sidecar.istio.io/status', 'x/status', 'proxy.istio.io/overrides', 'prometheus.io/path'];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), any), any, fc.boolean(), (annotations, value, isKnown) => {
        const env = ['ISTIO_KUBE_APP_PROBERS', 'ISTIO_PROMETHEUS_ANNOTATIONS'].map((name) => ({ name, value }));
        const probe = { httpGet: { path: '/app-health/web/livez', port: 15020 } };
        const containers = [
          { name: 'web', livenessProbe: probe },
          { name: 'istio-proxy', env },
        ];
        uninjectPod(pod({}, { annotations }, { containers }), isKnown ? by : undefined);
      }),
    );
    for (const odd of [
      {},
      { metadata: null },
      { metadata: { annotations: { 'sidecar.istio.io/status': 'x' } }, spec: 1 },
    ])
      uninjectPod(odd);
  });

  it('takes back what podResources: Add added', () => {
    const files = {
      ...injector.files,
      config: injector.files.config.replace('image: proxy,', 'image: proxy, resources: {requests: {cpu: 100m}},'),
    };
    const settings = JSON.stringify({ ...(JSON.parse(files.settings) as object), podResources: 'Add' });
    const adding = loadInjector({ ...files, settings });
    const before = pod({}, {}, { resources: { requests: { cpu: '1' } } });
    const result = inject(adding, { ...request, pod: before });
    assert.ok(result.outcome === 'injected');
    const resourcesOf = (each: JsonObject): unknown => (each.spec as JsonObject).resources;
    assert.deepEqual(resourcesOf(result.pod), { requests: { cpu: '1100m' } });
    const { pod: bare } = uninjectPod(result.pod, { injector: adding, request });
    assert.deepEqual(resourcesOf(bare), { requests: { cpu: '1' } });
  });
});
