import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { recordOriginal, recordTexts } from '../../explain/uninject-object.ts';
import { loadInjector } from '../../inject/injector.ts';
import { kubeInject } from '../../inject/kube-inject.ts';
import { proxyFiles } from '../../inject/testdata/configurations.ts';
import { uninjectText } from './uninject.ts';
import { runCommand, sees } from '../testdata/recording-terminal.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

const example = 'examples/hello.yaml';
const app = `# The shop.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # its name
spec:
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: "web:1" # pinned
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a:   b}
---
apiVersion: v1
kind: List
items:
  - apiVersion: batch/v1
    kind: CronJob
    metadata: {name: job}
    spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: j, image: j}]}}}}}
`;

describe('injector uninject', () => {
  const { path, write } = temporaryFolder();

  for (const known of [[], ['--config', example]]) {
    it(`returns what was injected ${known.length === 0 ? 'without' : 'with'} a configuration, with comments`, async () => {
      const file = write('app.yaml', app);
      const injected = path('injected.yaml');
      sees(await runCommand(['inject', '-f', file, '--config', example, '-o', injected]), 0, {});
      assert.match(readFileSync(injected, 'utf8'), /# its name[^]*busybox/);
      const { out, code, errors } = await runCommand(['uninject', '-f', injected, ...known]);
      assert.deepEqual([code, errors], [0, '']);
      const plain = await runCommand(['uninject', '-f', file]);
      assert.equal(out, plain.out);
      assert.match(plain.errors, /^Deployment "web": is not injected\nCronJob "job": is not injected$/);
    });
  }

  it('keeps prometheus annotations of a family without a proxy', async () => {
    const annotations =
      '{prometheus.io/scrape: "true", prometheus.io/path: /stats/prometheus, prometheus.io/port: "15020"}';
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: ${annotations}}\nspec: {containers: [{name: a, image: a}]}\n`;
    const injected = path('injected.yaml');
    sees(await runCommand(['inject', '-f', write('pod.yaml', text), '--config', example, '-o', injected]), 0, {});
    assert.equal((await runCommand(['uninject', '-f', injected, '--config', example])).out, text);
  });

  it('returns objects of further kinds, with --pod-template', async () => {
    const text = `apiVersion: keda.sh/v1alpha1
kind: ScaledJob
metadata: {name: job}
spec:
  jobTargetRef:
    template:
      spec:
        tolerations: []
        containers:
        - {name: a, image: a} # the job
`;
    const file = write('job.yaml', text);
    const injected = path('injected.yaml');
    const known = (kind: string): string[] => ['--pod-template', `${kind}=spec.jobTargetRef.template`];
    for (const kind of ['ScaledJob', 'keda.sh/ScaledJob']) {
      sees(await runCommand(['inject', '-f', file, '--config', example, '-o', injected, ...known(kind)]), 0, {});
      assert.match(readFileSync(injected, 'utf8'), /busybox/);
      const { out } = await runCommand(['uninject', '-f', injected, ...known(kind)]);
      assert.equal(out, text);
    }
    sees(await runCommand(['inject', '-f', file, '--config', example, ...known('other.io/ScaledJob')]), 0, {
      errors: /ScaledJob "job": has containers, but its kind is not known \(--pod-template adds kinds\)/,
    });
    for (const wrong of [['ScaledJob'], ['=a'], ['A=a..b'], ['A=a', '--pod-template', 'A=b']])
      sees(await runCommand(['uninject', '-f', file, '--pod-template', ...wrong]), 2, { errors: /--pod-template/ });
  });

  it('names the fields whose original is not known', async () => {
    const status =
      '{"initContainers":null,"containers":["istio-proxy"],"volumes":null,"imagePullSecrets":null,"revision":"x"}';
    const spec = {
      containers: [
        { name: 'web', livenessProbe: { httpGet: { path: '/app-health/web/livez', port: 1 } } },
        { name: 'istio-proxy' },
      ],
    };
    const metadata = { name: 'p', annotations: { 'sidecar.istio.io/status': status } };
    const file = write('pod.yaml', JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }));
    const { out, errors } = await runCommand(['uninject', '-f', file]);
    assert.match(
      errors,
      /^Pod "p": spec\.containers\[web\]\.livenessProbe: the original is not known: it was redirected/,
    );
    assert.doesNotMatch(out, /istio-proxy|annotations/);
  });

  it('refuses a file that is not YAML, and writes nothing', async () => {
    const file = write('bad.yaml', 'a: [');
    const { out, errors, code } = await runCommand(['uninject', '-f', file]);
    assert.deepEqual([out, code], ['', 1]);
    assert.match(errors, /^error: .*bad\.yaml: line 2, column 1: /);
    sees(await runCommand(['uninject', '-f', path('none')]), 2, { errors: /no such file/ });
  });
});

describe('a file that is injected and uninjected', () => {
  const injector = loadInjector(proxyFiles);
  const context = { namespace: 'default', nodes: [] };
  const by = { injector, request: context };
  const inject = (text: string): string => {
    const result = kubeInject(
      injector,
      text,
      context,
      (before, after) => recordOriginal(before, after, by),
      recordTexts,
    );
    assert.ok(result.outcome === 'done' && result.text.includes('istio-proxy'), JSON.stringify(result));
    return result.text;
  };
  const uninject = (text: string): string => {
    const result = uninjectText(text, injector, context);
    assert.ok(result.outcome === 'done', JSON.stringify(result));
    return result.text;
  };
  const job = (metadata: string, probe: string): string =>
    `apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\nspec:\n  template:\n${metadata}    spec:\n      containers:\n      - name: a\n        image: a\n        ports: [{name: http, containerPort: 80}]\n        livenessProbe:\n          httpGet:\n${probe}`;
  const probe = '            path: /\n            port: 80\n';
  const files: [title: string, file: string][] = [
    ['plain text', job('', probe)],
    ['a block', job('', '            path: |- # why\n              /\n            port: >-\n             http\n')],
    ['quotes', job('', `            path: '/' # why\n            port: "http"`)],
    ['an escape', job('', '            path: "\\x2f"\n            port:\t80\n')],
    ['equal texts in two styles', job('', `${probe}        readinessProbe: {httpGet: {path: "/", port: '80'}}\n`)],
    ['a value on the next line', job('', '            path:\n              /\n            port: 80\n')],
    [
      'braces',
      `{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: a, livenessProbe: {httpGet: {path: /, port: 80}}}]}}\n`,
    ],
    [
      'JSON',
      `{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", "image": "a", "livenessProbe": {"httpGet": {"path": "\\/", "port": 80}}}]}}`,
    ],
    ['labels without a value', job('    metadata:\n      labels: # none\n      annotations:\n', probe)],
    ['labels that are null', job('    metadata:\n      labels: ~ # none\n      annotations: null\n', probe)],
    ['metadata without a value', job('    metadata: # none\n', probe)],
  ];
  for (const [title, file] of files)
    for (const lineEnd of ['\n', '\r\n'])
      it(`has its bytes again, with ${title} and ${JSON.stringify(lineEnd)}`, () => {
        const text = file.replaceAll('\n', lineEnd);
        assert.equal(uninject(inject(text)), text);
      });

  it('has its values again if others have indented it in another way', () => {
    const text = job('', '            path: |-\n              /\n            port: 80\n');
    const moved = (file: string): string => file.replaceAll(/^/gm, '      ');
    assert.equal(uninject(moved(inject(text))), moved(job('', probe)));
  });

  it('is not extended by a forged record', () => {
    const injected = inject(job('', '            path: "\\x2f"\n            port: 80'));
    const forged = injected.replace(String.raw`\"\\x2f\"`, String.raw`/\n---\nkind: Pod`);
    assert.notEqual(forged, injected);
    assert.equal(uninject(injected).includes('kind: Pod'), false);
    assert.equal(uninject(forged).includes('kind: Pod'), false);
  });
});
