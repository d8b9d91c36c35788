import assert from 'node:assert/strict';
import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import type { InjectionRequest } from './injection-request.ts';
import type { InjectionResult } from './injection-result.ts';
import { inject } from './inject.ts';
import { loadInjector } from './injector.ts';
import { applyJsonPatch } from './patch/testdata/apply-json-patch.ts';
import type { JsonObject } from './patch/json-value.ts';
import { legacyFiles, logFiles, proxyFiles } from './testdata/configurations.ts';

const newNodes = [{ name: 'n', kubeletVersion: 'v1.34.0' }];
const podOf = (parts: { metadata?: JsonObject; spec?: JsonObject } = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', ...parts.metadata },
  spec: { containers: [{ name: 'web', image: 'web:1' }], ...parts.spec },
});

const annotated = (annotations: JsonObject): JsonObject => podOf({ metadata: { annotations } });
const waitingPod = annotated({ 'proxy.istio.io/config': 'holdApplicationUntilProxyStarts: true' });
const rendering = (output: string): ConfigurationFiles => ({
  ...proxyFiles,
  config: `policy: enabled\ntemplates: {sidecar: ${JSON.stringify(output)}}`,
});
/** The spec of a pod whose container has a probe. */
const probed = { containers: [{ name: 'web', image: 'web:1', readinessProbe: { httpGet: { port: 80 } } }] };
/** Returns a pod with these containers after the container `web`. */
const containing = (...containers: JsonObject[]): JsonObject =>
  podOf({ spec: { containers: [{ name: 'web', image: 'web:1' }, ...containers] } });

function run(files: ConfigurationFiles, pod: JsonObject, request: Partial<InjectionRequest> = {}): InjectionResult {
  return inject(loadInjector(files), { pod, namespace: 'shop', ...request });
}

/** Injects a pod, checks the patch and lists the names of the containers. */
function injected(
  files: ConfigurationFiles,
  pod: JsonObject,
  request: Partial<InjectionRequest> = {},
): { pod: JsonObject; spec: JsonObject; metadata: JsonObject; containers: JsonObject[]; names: string[] } {
  const result = run(files, pod, request);
  assert.equal(result.outcome, 'injected', JSON.stringify(result));
  assert.deepEqual(applyJsonPatch(pod, result.patch), result.pod);
  const { pod: after } = result;
  const [spec, metadata] = [after.spec as JsonObject, after.metadata as JsonObject];
  const containers = [...((spec.initContainers ?? []) as JsonObject[]), ...(spec.containers as JsonObject[])];
  return { pod: after, spec, metadata, containers, names: containers.map(({ name }) => String(name)) };
}

describe('inject', () => {
  it('adds the output of the templates and the changes that this output requires', () => {
    const { metadata, containers, names } = injected(proxyFiles, podOf({ metadata: { labels: { app: 'shop' } } }));
    assert.deepEqual(names, ['istio-init', 'web', 'istio-proxy']);
    assert.deepEqual(metadata.labels, { app: 'shop', 'mesh.example/app': 'shop' });
    assert.deepEqual(metadata.annotations, {
      'mesh.example/containers': 'web',
      'prometheus.io/port': '15020',
      'prometheus.io/path': '/stats/prometheus',
      'prometheus.io/scrape': 'true',
      'sidecar.istio.io/status':
        '{"initContainers":["istio-init"],"containers":["istio-proxy"],"volumes":["proxy-run"],"imagePullSecrets":null,"revision":"r1"}',
    });
    assert.deepEqual(containers.at(-1), {
      name: 'istio-proxy',
      image: 'registry.example/mesh/proxyv2:v1',
      env: [
        { name: 'PROXY_CONFIG', value: '{"concurrency":2}' },
        { name: 'ISTIO_META_CLUSTER_ID', value: 'east' },
      ],
      resources: { requests: { cpu: '1', memory: '1Gi' } },
      securityContext: { runAsUser: 1337 },
    });
  });

  it('makes the proxy a native sidecar if the nodes are new enough', () => {
    const { spec, names } = injected(proxyFiles, podOf(), { nodes: newNodes });
    assert.deepEqual(names, ['istio-init', 'istio-proxy', 'web']);
    assert.equal((spec.initContainers as JsonObject[])[1]?.restartPolicy, 'Always');
  });

  it('reads the environment from settings and path; the path overrides the settings', () => {
    const files = { ...proxyFiles, settings: '{"pathEnvironment": {"net": "n-settings", "zone": "z"}}' };
    const { containers, metadata } = injected(files, podOf(), { path: '/inject/net/n-path/cluster/west' });
    const env = containers.at(-1)?.env as { name: string; value: string }[];
    assert.deepEqual(env.slice(1), [
      { name: 'ISTIO_META_CLUSTER_ID', value: 'west' },
      { name: 'ISTIO_META_NETWORK', value: 'n-path' },
      { name: 'ZONE', value: 'z' },
    ]);
    assert.equal((metadata.labels as JsonObject)['topology.istio.io/network'], 'n-path');
  });

  it('lets the pod’s label name the network', () => {
    const pod = podOf({ metadata: { labels: { 'topology.istio.io/network': 'own' } } });
    const { metadata } = injected(proxyFiles, pod, { path: '/inject/net/n' });
    assert.equal((metadata.labels as JsonObject)['topology.istio.io/network'], 'own');
  });

  it('chooses templates by annotation, and expands aliases', () => {
    const { names } = injected(proxyFiles, annotated({ 'inject.istio.io/templates': 'all' }));
    assert.deepEqual(names, ['istio-init', 'log-collector', 'web', 'istio-proxy']);
  });

  it('lets the user’s own container override the template', () => {
    const own = {
      name: 'istio-proxy',
      image: 'auto',
      resources: { requests: { cpu: '2' } },
      securityContext: { runAsUser: 5 },
    };
    const { containers, metadata } = injected(proxyFiles, containing(own));
    const proxy = containers.at(-1);
    assert.equal(proxy?.image, 'registry.example/mesh/proxyv2:v1');
    assert.deepEqual(proxy.resources, { requests: { cpu: '2', memory: '1Gi' } });
    assert.deepEqual(containers[0]?.args, ['-u', '5', '-i', '*']);
    assert.equal(
      (metadata.annotations as JsonObject)['proxy.istio.io/overrides'],
      '{"containers":[{"name":"istio-proxy","resources":{"requests":{"cpu":"2"}},"securityContext":{"runAsUser":5}}]}',
    );
  });

  it('moves the user’s own proxy to the init containers if the proxy is a native sidecar', () => {
    const own = { name: 'istio-proxy', image: 'mine' };
    const { names, containers } = injected(proxyFiles, containing(own), { nodes: newNodes });
    assert.deepEqual(names, ['istio-init', 'istio-proxy', 'web']);
    assert.equal(containers[1]?.image, 'mine');
    // A native sidecar in the template is not enough to move the container.
    const files = rendering('spec: {initContainers: [{name: istio-proxy, restartPolicy: Always}]}');
    const unwanted = { ...containing(own), metadata: { annotations: { 'sidecar.istio.io/nativeSidecar': 'false' } } };
    assert.deepEqual(injected(files, unwanted, { nodes: newNodes }).names, ['istio-proxy', 'web', 'istio-proxy']);
    assert.deepEqual(injected(files, containing(own)).names, ['istio-proxy', 'web', 'istio-proxy']);
  });

  it('holds the application when the mesh or the pod asks for it', () => {
    assert.deepEqual(injected(proxyFiles, waitingPod).names, ['istio-init', 'istio-proxy', 'web']);
  });

  it('uses the namespace’s ranges on OpenShift', () => {
    const files = { ...proxyFiles, settings: '{"platform": "OpenShift"}' };
    const annotations = { 'openshift.io/sa.scc.uid-range': '1000/10' };
    const { containers } = injected(files, podOf(), { namespaceMetadata: { annotations } });
    assert.deepEqual(containers.at(-1)?.securityContext, { runAsUser: 1009 });
  });

  it('does not let a template change the values of the next pod', () => {
    const template =
      '{{ $_ := set .Values "seen" (add1 (.Values.seen | default 0)) }}metadata: {labels: {seen: "{{ .Values.seen }}"}}';
    const injector = loadInjector(rendering(template));
    const labels = [1, 2].map(() => {
      const result = inject(injector, { pod: podOf(), namespace: 'shop' });
      assert.ok(result.outcome === 'injected');
      return (result.pod.metadata as JsonObject).labels;
    });
    assert.deepEqual(labels, [{ seen: '1' }, { seen: '1' }]);
  });

  it('keeps unknown fields and managedFields', () => {
    const managedFields = [{ manager: 'kubectl' }];
    const pod = podOf({
      metadata: { managedFields },
      spec: { containers: [{ name: 'web', image: 'web:1', futureField: { deep: 1 } }], futureSpec: true },
    });
    const { spec, metadata } = injected(proxyFiles, pod);
    assert.equal(spec.futureSpec, true);
    assert.deepEqual((spec.containers as JsonObject[])[0]?.futureField, { deep: 1 });
    assert.equal(metadata.managedFields, managedFields);
    assert.equal('namespace' in metadata, false);
  });

  it('returns the same pod when an injected pod is injected again', () => {
    // Omit the cluster name: otherwise, a second injection by Istio moves its environment variable.
    const files = { ...proxyFiles, values: '{"sidecarInjectorWebhook": {"rewriteAppHTTPProbe": true}}' };
    const first = injected(files, podOf({ spec: probed })).pod;
    assert.deepEqual(injected(files, first).pod, first);
  });
});

describe('inject with a template of the 1.x kind', () => {
  it('appends the rendered parts to the parts of the pod', () => {
    const port = { ports: [{ containerPort: 80 }], livenessProbe: { httpGet: { port: 80 } } };
    const containersBefore = [
      { name: 'web', image: 'web:1', ...port },
      { name: 'helper', image: 'h' },
    ];
    const pod = podOf({ spec: { containers: containersBefore, volumes: [{ name: 'own', emptyDir: {} }] } });
    const { names, spec, metadata, containers } = injected(legacyFiles, pod);
    assert.deepEqual(names, ['istio-init', 'web', 'helper', 'collector', 'istio-proxy']);
    assert.deepEqual(spec.volumes, [
      { name: 'own', emptyDir: {} },
      { name: 'run', emptyDir: { medium: 'Memory' } },
    ]);
    assert.deepEqual(containers[0]?.args, ['-u', '1337', '-b', '80']);
    assert.equal(containers[3]?.image, 'collector:2');
    assert.equal((metadata.annotations as JsonObject)['redirect.example/mode'], 'REDIRECT');
    assert.deepEqual(containers[1]?.livenessProbe, { httpGet: { path: '/app-health/web/livez', port: 15020 } });
  });

  it('returns the same pod when an injected pod is injected again', () => {
    const first = injected(legacyFiles, podOf()).pod;
    assert.deepEqual(injected(legacyFiles, first).pod, first);
  });
});

describe('inject with two families', () => {
  const annotations = { 'inject.istio.io/templates': 'sidecar', 'proxy.istio.io/config': 'concurrency: 4' };
  const pod = podOf({ metadata: { annotations }, spec: probed });

  it('skips proxy handling in a family that adds no proxy', () => {
    const pod = annotated({ 'sidecar.istio.io/interceptionMode': 'nonsense' });
    const { metadata, names, containers } = injected(logFiles, pod, { path: '/inject/net/n' });
    assert.deepEqual(names, ['log-collector', 'web']);
    assert.deepEqual(Object.keys(metadata.annotations as object).sort(), [
      'logs.example/collected',
      'logs.example/rev',
      'logs.example/status',
      'sidecar.istio.io/interceptionMode',
    ]);
    assert.equal(metadata.labels, undefined);
    assert.equal(containers[0]?.env, undefined);
  });

  it('does not move the proxy of the other family', () => {
    const first = injected(proxyFiles, waitingPod);
    assert.deepEqual(first.names, ['istio-init', 'istio-proxy', 'web']);
    assert.deepEqual(injected(logFiles, first.pod).names, ['istio-init', 'log-collector', 'istio-proxy', 'web']);
  });

  it('adds the same containers in either order of injection and on reinjection', () => {
    const proxyFirst = injected(logFiles, injected(proxyFiles, pod).pod);
    const logFirst = injected(proxyFiles, injected(logFiles, pod).pod);
    const all = ['istio-init', 'istio-proxy', 'log-collector', 'web'];
    for (const both of [proxyFirst, logFirst]) {
      for (const again of [both, injected(logFiles, both.pod), injected(proxyFiles, both.pod)])
        assert.deepEqual(again.names.toSorted(), all);
    }
  });
});

describe('inject, on failure', () => {
  const oneError = /^failed to run injection template: 1 error occurred:/;
  const notFound = /requested template "nope" not found; have log, sidecar$/;
  const noBoolean = /^json: cannot unmarshal string into Go struct field .*hostNetwork of type bool/;
  const overrides = (text: string): JsonObject => annotated({ 'proxy.istio.io/overrides': text });
  const directed = (name: string): JsonObject[] => [{ name, resources: { requests: { $patch: '1' } } }];
  const reapplied = (kind: string): RegExp =>
    new RegExp(`^failed to re apply container: failed to apply sidecar ${kind}container: .*unknown patch type: 1 `);
  const pods: [name: string, pod: JsonObject, reason: string, message: RegExp][] = [
    ['an invalid annotation', annotated({ 'sidecar.istio.io/proxyCPU': 'x' }), 'InvalidAnnotation', oneError],
    ['an unknown template', annotated({ 'inject.istio.io/templates': 'nope' }), 'UnknownTemplate', notFound],
    ['saved overrides that are a list', overrides('[]'), 'InvalidOverrides', /overrides: not an object$/],
    ['saved overrides that are not JSON', overrides('['), 'InvalidOverrides', /annotation proxy\.istio\.io\/overrides/],
    ['saved overrides of a wrong shape', overrides('{"containers": 1}'), 'InvalidOverrides', /cannot unmarshal number/],
    ['a merge directive', podOf({ spec: { containers: directed('istio-proxy') } }), 'InvalidOverrides', reapplied('')],
    [
      'a merge directive in an init container',
      podOf({ spec: { initContainers: directed('istio-init') } }),
      'InvalidOverrides',
      reapplied('init '),
    ],
    ['a reserved port', annotated({ 'prometheus.io/port': '15001' }), 'InvalidPrometheusConfiguration', /reserved/],
    ['a pod of the wrong types', containing({ name: 1 }), 'InvalidPod', /cannot unmarshal number/],
    ['metadata that is a list', { metadata: [] }, 'InvalidPod', /^json: cannot unmarshal array into Go struct field/],
    ['hostNetwork that is not a boolean', podOf({ spec: { hostNetwork: 'yes' } }), 'InvalidPod', noBoolean],
  ];
  const outputs: [name: string, template: string, message: RegExp][] = [
    ['output that is not YAML', 'a: [', /strategic merge: invalid JSON document\nyaml: /],
    ['output that is not an object', 'text', /strategic merge: invalid JSON document$/],
    ['mistyped output', 'spec: {containers: 1}', /failed applying injection overlay: unmarshal patched pod: json/],
    ['output that cannot be merged', 'spec: {containers: [{image: a}]}', /strategic merge: .*merge key: name/],
  ];
  const rendered = (template: string): InjectionResult => run(rendering(template), podOf());
  const rows = [
    ...pods.map(([name, pod, ...refusal]) => [name, run(proxyFiles, pod), ...refusal] as const),
    ['a template that fails', rendered('{{ fail `no` }}'), 'TemplateFailed', /error calling fail: no$/] as const,
    ...outputs.map(([name, text, message]) => [name, rendered(text), 'InvalidTemplateOutput', message] as const),
  ];
  for (const [name, result, reason, message] of rows) {
    it(`returns a failure for ${name}`, () => {
      assert.equal(result.outcome, 'failed');
      assert.equal(result.reason, reason);
      assert.match(result.message, message);
    });
  }

  it('returns the reason for skipping a pod', () => {
    const result = { ...run(proxyFiles, podOf({ spec: { hostNetwork: true } })), message: '' };
    assert.deepEqual(result, { outcome: 'skipped', reason: 'HostNetwork', message: '', warnings: [] });
  });

  it('turns any other error into a result', () => {
    const getOwnPropertyDescriptor = (): never => assert.fail('trap');
    const trap = new Proxy({}, { getOwnPropertyDescriptor });
    const result = run(proxyFiles, { metadata: trap, spec: {} });
    assert.deepEqual(result, { outcome: 'failed', reason: 'Internal', message: 'unexpected: trap' });
  });

  describe('with resources of the pod itself', () => {
    const proxy = (more: string): string =>
      `spec:\n  containers:\n  - name: proxy\n    image: a:1\n    resources: {requests: {cpu: 500m}}\n${more}`;
    const own = podOf({ spec: { resources: { requests: { cpu: '200m' }, limits: { memory: '1Gi' } } } });
    const withMode = (podResources: string, more = ''): ConfigurationFiles => {
      const files = rendering(proxy(more));
      return { ...files, settings: JSON.stringify({ ...(JSON.parse(files.settings) as object), podResources }) };
    };

    it('warns if the sidecar does not fit, and names container, resource and remedy', () => {
      const { pod, ...result } = run(withMode('Keep'), own) as InjectionResult & {
        pod: JsonObject;
        warnings: string[];
      };
      assert.deepEqual((pod.spec as JsonObject).resources, (own.spec as JsonObject).resources);
      const warning =
        /spec\.resources\.requests\[cpu\].*no room for container "proxy"; set injection\.podResources: Add/;
      assert.equal(result.warnings.filter((each) => warning.test(each)).length, 1);
      const roomy = podOf({ spec: { resources: { requests: { cpu: '500m' } } } });
      for (const [mode, fine] of [
        ['Keep', podOf()],
        ['Keep', roomy],
        ['Add', own],
      ] as const)
        assert.doesNotMatch(JSON.stringify(run(withMode(mode), fine)), /spec\.resources has no room/);
    });

    it('adds the sidecar once, however often the API server calls the webhook', () => {
      const [first, second] = [
        injected(withMode('Add'), own),
        injected(withMode('Add'), injected(withMode('Add'), own).pod),
      ];
      for (const { spec } of [first, second])
        assert.deepEqual(spec.resources, { requests: { cpu: '700m' }, limits: { memory: '1Gi' } });
      const native = withMode('Add', '    restartPolicy: Always\n').config.replace('containers', 'initContainers');
      const { spec } = injected({ ...withMode('Add'), config: native }, own);
      assert.deepEqual(spec.resources, { requests: { cpu: '700m' }, limits: { memory: '1Gi' } });
      const plain = podOf();
      assert.equal(injected(withMode('Add'), plain).spec.resources, undefined);
    });
  });

  it('skips pods of Windows, except under preset Istio or with windowsPods: Inject', () => {
    const windows = podOf({ spec: { os: { name: 'windows' } } });
    const outcomeWith = (settings: object): string => {
      const all = { ...(JSON.parse(proxyFiles.settings) as object), ...settings };
      const result = run({ ...proxyFiles, settings: JSON.stringify(all) }, windows);
      return result.outcome === 'skipped' ? result.reason : result.outcome;
    };
    const [safe, istio] = ['Safe', 'Istio'].map((preset) => ({ annotationOverrides: { preset, allow: [] } }));
    assert.equal(outcomeWith({ ...safe }), 'WindowsPod');
    assert.equal(outcomeWith({ ...safe, windowsPods: 'Inject' }), 'injected');
    assert.equal(outcomeWith({ ...istio }), 'injected');
    assert.equal(outcomeWith({ ...istio, windowsPods: 'Skip' }), 'WindowsPod');
    assert.equal(run(proxyFiles, podOf({ spec: { os: { name: 'linux' } } })).outcome, 'injected');
  });
});
