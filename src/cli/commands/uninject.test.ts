import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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
