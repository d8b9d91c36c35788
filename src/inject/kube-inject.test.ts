import assert from 'node:assert/strict';
import { loadInjector, type Injector } from './injector.ts';
import { kubeInject } from './kube-inject.ts';
import type { JsonObject } from './patch/json-value.ts';
import { documentsOfFile } from './objects/documents-of-file.ts';
import { randomFile } from './objects/testdata/random-files.ts';
import { logFiles, proxyFiles } from './testdata/configurations.ts';

const webhook = loadInjector(logFiles);
const command = loadInjector(proxyFiles, { semantics: 'KubeInject' });
const containers = 'containers: [{name: web, image: "web:1"}]';

/** Injects a file. Returns the result and the first object of the new file. */
function done(injector: Injector, file: string): { text: string; warnings: readonly string[]; object: JsonObject } {
  const result = kubeInject(injector, file);
  assert.equal(result.outcome, 'done', JSON.stringify(result));
  const [first] = documentsOfFile(result.text);
  return { ...result, object: first?.read() as JsonObject };
}

/** Returns a file with a pod. */
function podWith(metadata: string, spec = containers): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {${metadata}}\nspec: {${spec}}\n`;
}

function namesIn(spec: unknown): string[] {
  return ((spec as JsonObject).containers as { name: string }[]).map(({ name }) => name);
}

describe('kubeInject', () => {
  const template = `template: {metadata: {labels: {app: web}}, spec: {${containers}}}`;
  const kinds: [apiVersion: string, kind: string, spec: string, path: string[]][] = [
    ['v1', 'Pod', containers, []],
    ['v1', 'ReplicationController', template, ['template', 'spec']],
    ['apps/v1', 'ReplicaSet', template, ['template', 'spec']],
    ['apps/v1', 'Deployment', template, ['template', 'spec']],
    ['apps/v1', 'DaemonSet', template, ['template', 'spec']],
    ['apps/v1', 'StatefulSet', template, ['template', 'spec']],
    ['batch/v1', 'Job', template, ['template', 'spec']],
    ['batch/v1', 'CronJob', `jobTemplate: {spec: {${template}}}`, ['jobTemplate', 'spec', 'template', 'spec']],
    ['apps.openshift.io/v1', 'DeploymentConfig', template, ['template', 'spec']],
    ['argoproj.io/v1alpha1', 'Rollout', template, ['template', 'spec']],
    ['apps.kruise.io/v1alpha1', 'CloneSet', template, ['template', 'spec']],
  ];
  it('names what it does not inject', () => {
    const rows: [text: string, warning: RegExp][] = [
      [
        `apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: x}\nspec: {${template}}\n`,
        /^Service "x": has containers, but its kind is not known \(--pod-template adds kinds\); nothing was injected$/,
      ],
      [
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n$patch: delete\n',
        /^Deployment "x": has no pod template, as in a patch; nothing was injected$/,
      ],
    ];
    for (const [text, warning] of rows) {
      const result = done(webhook, text);
      assert.equal(result.text, text);
      assert.match(result.warnings.join(), warning);
    }
  });

  it('warns of pods that the API server would refuse', () => {
    const config = 'policy: enabled\ndefaultTemplates: [s]\ntemplates: {s: "spec: {containers: [{name: a}]}"}\n';
    const { warnings } = done(loadInjector({ ...logFiles, config }), podWith('name: p'));
    assert.match(warnings.join(), /Pod "p": the API server refuses .*image: Required value/);
  });

  for (const [apiVersion, kind, spec, path] of kinds) {
    it(`injects a ${kind}`, () => {
      const file = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: web}\nspec: {${spec}}\n`;
      let value = done(webhook, file).object.spec as JsonObject;
      for (const name of path) value = value[name] as JsonObject;
      assert.deepEqual(namesIn(value), ['log-collector', 'web']);
    });
  }

  const deployment = `# the shop
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # its name
  namespace: shop
spec:
  template:
    metadata:
      labels: {app: web} # kept
    spec:
      containers:
        # the application
        - name: web
          image: web:1
`;

  it('keeps comments and unchanged parts', () => {
    const { text } = done(webhook, deployment);
    for (const line of deployment.split('\n')) assert.ok(text.includes(line.trim()), line);
    assert.match(text, /log-collector/);
  });

  it('does not change other objects and documents', () => {
    const service = '# a service\napiVersion: v1\nkind: Service\nmetadata: {name: s}   # odd   spacing\n';
    const { text, warnings } = done(webhook, `${service}---\n${deployment}---\n${service}`);
    assert.ok(text.startsWith(service));
    assert.ok(text.endsWith(service));
    assert.equal(Array.from(documentsOfFile(text)).length, 3);
    assert.deepEqual(warnings, []);
  });

  it('injects workloads in Lists', () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {${containers}}}\n- 7\n`;
    const items = done(webhook, list).object.items as JsonObject[];
    assert.deepEqual(namesIn(items[1]?.spec), ['log-collector', 'web']);
    assert.deepEqual(items[0], { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } });
  });

  it('leaves a List with a List below an object that cannot be injected', () => {
    const pod = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {terminationGracePeriodSeconds: "1", ${containers}}}`;
    const list = `kind: List\nitems:\n- ${pod}\n`;
    const { text, warnings } = done(webhook, `${list}- {apiVersion: v1, kind: List, items: []}\n`);
    assert.equal(text, `${list}- {apiVersion: v1, kind: List, items: []}\n`);
    assert.match(warnings.join('\n'), /^line 1: kubectl refuses .* a List in a List; it stays as it is$/);
    assert.equal(kubeInject(webhook, list).outcome, 'failed');
  });

  it('names a List in a List, which kubectl refuses', () => {
    const pod = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {${containers}}}`;
    for (const kind of ['List', 'PodList', 'Pod']) {
      const list = `apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ${kind}\n  items:\n  - ${pod}\n`;
      const { text, warnings } = done(webhook, list);
      assert.equal(text, list);
      assert.match(warnings.join(), /^line 1: kubectl refuses .* a List in a List/);
    }
    assert.match(done(webhook, `apiVersion: v1\nkind: PodList\nitems:\n- ${pod}\n`).text, /log-collector/);
    for (const items of ['{}', '1', '[1]', '\n-\n'])
      assert.match(done(webhook, `apiVersion: v1\nkind: List\nitems: ${items}\n`).warnings.join(), /kubectl refuses/);
    assert.deepEqual(done(webhook, 'kind: List\nitems:\n').warnings, []);
    const map = '{apiVersion: v1, kind: Things, items: null}';
    assert.match(done(webhook, `apiVersion: v1\nkind: List\nitems:\n- ${map}\n- ${pod}\n`).text, /log-collector/);
  });

  it('changes only one of two objects that share a node by alias', () => {
    const aliased = `apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: &spec {${containers}}\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b, annotations: {logs.example/inject: "false"}}\n  spec: *spec\n`;
    const { object, warnings } = done(webhook, aliased);
    const names = (object.items as JsonObject[]).map(({ spec }) => namesIn(spec).join());
    assert.deepEqual(names, ['log-collector,web', 'web']);
    assert.match(warnings.join('\n'), /^===> Skipping [^\n]*\nline 11: an alias or a merge key was replaced by/);
  });

  it('keeps annotations whose names look like numbers', () => {
    const { object } = done(webhook, podWith('name: p, annotations: {logs.example/collected: "false", 1: "x"}'));
    const { annotations } = object.metadata as { annotations: JsonObject };
    assert.equal(annotations['logs.example/collected'], 'true');
    assert.equal(annotations['1'], 'x');
  });

  it('reads YAML as Kubernetes does', () => {
    const pod = podWith('name: p', `hostNetwork: yes, ${containers}`);
    const { text, warnings } = done(webhook, pod);
    assert.equal(text, pod);
    assert.deepEqual(warnings, ['===> Skipping injection because Pod "p" has host networking enabled']);
  });

  it('warns of the reason why an object is skipped', () => {
    const rows: [metadata: string, warning: RegExp][] = [
      ['name: p, labels: {logs.example/inject: "false"}', /Pod "p" has sidecar injection disabled \(the pod's label/],
      [
        'name: p, namespace: kube-system',
        /Pod "kube-system\/p" is not selected \(namespace "kube-system" is never injected\)/,
      ],
    ];
    for (const [metadata, warning] of rows) assert.match(done(webhook, podWith(metadata)).warnings.join(), warning);
  });

  it('passes on the warnings of the engine', () => {
    const { warnings } = done(webhook, podWith('name: p, labels: {logs.example/inject: perhaps}'));
    assert.match(warnings.join(), /^Pod "p": the pod's label logs\.example\/inject is "perhaps"/);
  });

  it('names the object that cannot be injected', () => {
    const result = kubeInject(webhook, `${deployment}---\n${podWith('name: p, namespace: shop', 'containers: 1')}`);
    assert.ok(result.outcome === 'failed');
    assert.equal(result.object, 'Pod "shop/p"');
    assert.match(result.message, /cannot unmarshal number/);
  });

  it('names the line and column at which a file is not YAML', () => {
    const result = kubeInject(webhook, 'a: 1\n---\nb: [1\nc: 2\n');
    assert.ok(result.outcome === 'failed');
    assert.match(result.message, /^line [45], column \d+: /);
  });

  it('accepts an empty file', () => {
    assert.deepEqual(kubeInject(webhook, ''), { outcome: 'done', text: '', warnings: [] });
    assert.equal(done(webhook, 'just text').text, 'just text');
  });

  describe('of 2,000 random files, in all styles', () => {
    const isWithin = (part: string, text: string): boolean => {
      let found = 0;
      for (let at = 0; at < text.length && found < part.length; at += 1) if (part[found] === text[at]) found += 1;
      return found === part.length;
    };
    const objectsIn = (value: unknown): (JsonObject | null)[] => {
      const { kind, items } = (value ?? {}) as { readonly kind?: string; readonly items?: unknown[] };
      return kind === 'List' ? (items ?? []).flatMap(objectsIn) : [value as JsonObject | null];
    };
    const objectsOf = (text: string): (JsonObject | null)[] =>
      Array.from(documentsOfFile(text), ({ read }) => read()).flatMap(objectsIn);
    const checkFile = (seed: number): void => {
      const file = randomFile(seed);
      const { text } = done(webhook, file);
      assert.ok(isWithin(file, text), `file ${seed}`);
      const after = objectsOf(text);
      for (const [index, object] of objectsOf(file).entries()) {
        const isWorkload = object?.kind !== undefined && object.kind !== null && object.kind !== 'ConfigMap';
        const added = JSON.stringify(after[index]).match(/"name":"log-collector"/g) ?? [];
        if (isWorkload) assert.equal(added.length, 1, `file ${seed}`);
        else assert.deepEqual(after[index], object, `file ${seed}`);
      }
    };
    // Many short tests, because a busy machine may take 20 times longer than an idle one.
    for (let first = 0; first < 2000; first += 200)
      it(`only adds to the bytes of files ${first} to ${first + 199}`, () => {
        for (let seed = first; seed < first + 200; seed += 1) checkFile(seed);
      });
  });

  describe('with the semantics of Istio’s command', () => {
    const workload = (kind: string, spec: string): string =>
      `apiVersion: ${kind === 'CronJob' ? 'batch/v1' : 'apps/v1'}\nkind: ${kind}\nmetadata: {name: web, namespace: kube-system}\nspec: {${spec}}\n`;
    const configured = (config: string): string => {
      const metadata = `metadata: {annotations: {proxy.istio.io/config: "${config}"}}`;
      return workload('Deployment', `template: {${metadata}, spec: {${containers}}}`);
    };
    const templateOf = (file: string): { metadata: Record<string, JsonObject>; spec: unknown } =>
      (done(command, file).object.spec as JsonObject).template as ReturnType<typeof templateOf>;

    it('uses the name of the workload and ignores its namespace', () => {
      const { metadata } = templateOf(workload('Deployment', `template: {spec: {${containers}}}`));
      assert.equal(metadata.labels?.['mesh.example/app'], 'web');
      assert.match(String(metadata.annotations?.['sidecar.istio.io/status']), /"revision":"default"/);
    });

    it('writes a CronJob’s metadata to the job', () => {
      const { object } = done(command, workload('CronJob', `jobTemplate: {spec: {template: {spec: {${containers}}}}}`));
      const { metadata, spec } = (object.spec as { jobTemplate: Record<string, Record<string, JsonObject>> })
        .jobTemplate;
      assert.equal(metadata?.labels?.['mesh.example/app'], 'web');
      assert.deepEqual(Object.keys(spec?.template ?? {}), ['spec']);
    });

    it('applies the annotation to the mesh configuration, including zeros', () => {
      const { spec } = templateOf(configured('concurrency: 0\\nholdApplicationUntilProxyStarts: true'));
      assert.deepEqual(namesIn(spec), ['istio-proxy', 'web']);
      const [proxy] = (spec as { containers: { env?: { value: string }[] }[] }).containers;
      assert.equal(proxy?.env?.[0]?.value, '{"concurrency":0,"holdApplicationUntilProxyStarts":true}');
    });

    it('rejects an annotation that it cannot parse', () => {
      const result = kubeInject(command, configured('concurrency: x'));
      assert.ok(result.outcome === 'failed');
      const message = /^could not parse proxy config: invalid character 'x' looking for beginning of value$/;
      assert.match(result.message, message);
    });
  });
});
