import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type Explanation, explainTexts, lintTexts } from './evaluate.ts';

const [hello, sleep] = ['hello', 'sleep'].map((name) => readFileSync(`examples/${name}.yaml`, 'utf8')) as [
  string,
  string,
];
const bare = 'apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec: {containers: [{name: app, image: app}]}\n';

function explain(config: string, pod: string): Explanation {
  const explained = explainTexts({ config, pod });
  assert.ok('explanation' in explained, 'missing' in explained ? explained.missing : '');
  return explained.explanation;
}

function missing(config: string, pod: string): string {
  const explained = explainTexts({ config, pod });
  return 'missing' in explained ? explained.missing : 'explained';
}

describe('the engine of the playground', () => {
  it('injects the pod of a workload, and marks what was added', () => {
    const { outcome, subject, namespace, injectedBy, pod, webhooks, advice, notes } = explain(hello, sleep);
    assert.deepEqual([outcome, subject, namespace], ['Injected', 'Deployment sleep', 'demo']);
    assert.match(injectedBy.join(), /^default\.[0-9a-f]{8}$/);
    const added = pod.filter(({ change }) => change === 'added').map(({ text }) => text.trim());
    assert.ok(added.includes('- name: hello') && added.includes('value: sleep'), added.join('\n'));
    assert.equal(pod.filter(({ change }) => change === 'removed').length, 0);
    const [called] = webhooks.filter((each) => each.outcome === 'Injected');
    assert.deepEqual(
      called?.steps.map(({ step }) => step),
      [
        'NamespaceSelector',
        'ObjectSelector',
        'MatchCondition',
        'MatchCondition',
        'MatchCondition',
        'Configuration',
        'Decision',
        'Injection',
      ],
    );
    assert.match(
      advice[0] ?? '',
      /^To leave the pod without a sidecar, set the label sidecar.istio.io\/inject=false on the pod\.$/,
    );
    assert.deepEqual(notes, []);
  });

  it('says how to select a pod, and that its namespace is not known', () => {
    const { outcome, message, advice, notes, pod } = explain(hello, bare);
    assert.equal(outcome, 'NotInjected');
    assert.match(message, /^no webhook selects the pod/);
    assert.match(advice.join('; '), /To inject the pod, set the label istio-injection=enabled on the namespace/);
    assert.deepEqual(notes, ['there is no Namespace default: it counts as a namespace without labels']);
    assert.ok(pod.every(({ change }) => change === 'kept'));
  });

  it('explains only the first pod, also of a List, and names each change', () => {
    const label = 'metadata: {name: two, labels: {sidecar.istio.io/inject: "true"}, annotations: {a: b}}';
    const list = `apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, ${label}, spec: {hostNetwork: true}}]\n---\n${bare}`;
    const { subject, notes, advice } = explain(hello, list);
    assert.equal(subject, 'Pod two');
    assert.ok(notes.includes('only the first of 2 pods and workloads is explained'));
    assert.match(advice.join('; '), /set spec.hostNetwork of the pod to false/);
  });

  it('says what is missing', () => {
    assert.match(missing(hello, ''), /^there is no pod: add a Pod or a workload/);
    assert.match(missing(hello, 'just text'), /^there is no pod/);
    assert.match(missing(hello.replace('metadata:', 'meta:'), sleep), /metadata/);
    assert.match(missing(hello, 'a: ['), /did not find expected node content/);
  });

  it('removes an annotation to admit a refused pod', () => {
    const annotations =
      'metadata: {name: one, annotations: {sidecar.istio.io/proxyCPU: x}, labels: {sidecar.istio.io/inject: "true"}}';
    const template = hello.replace('cpu: 10m', 'cpu: {{ annotation .ObjectMeta "sidecar.istio.io/proxyCPU" "1m" }}');
    const { outcome, advice } = explain(template, bare.replace('metadata: {name: one}', annotations));
    assert.equal(outcome, 'Refused');
    assert.match(advice.join('; '), /remove the annotation sidecar.istio.io\/proxyCPU of the pod/);
  });

  it('compares with another configuration', () => {
    const compared = (other: string) => {
      const explained = explainTexts({ config: hello, pod: sleep, other });
      assert.ok('explanation' in explained);
      return explained.explanation.comparison;
    };
    const invalid = compared('a: [');
    assert.match(typeof invalid === 'string' ? invalid : '', /did not find expected node content/);
    const same = compared(hello);
    assert.deepEqual(typeof same === 'object' && same.changes, []);
    const changed = compared(hello.replace('cpu: 10m', 'cpu: 20m'));
    assert.ok(typeof changed === 'object');
    assert.deepEqual(
      changed.changes.map(({ path, before, after }) => [path, before, after]),
      [['spec.containers[hello].resources.requests.cpu', '10m', '20m']],
    );
    assert.equal(changed.outcome, 'Injected');
    const none = compared('');
    assert.equal(typeof none === 'object' && none.outcome, 'NotInjected');
  });

  it('tells what preset Safe allows, also without an injection', () => {
    const template = hello.replace('{{ .Values.image }}', '{{ annotation .ObjectMeta "team/image" .Values.image }}');
    const pod = bare.replace('{name: one}', '{name: one, annotations: {team/image: "x:1"}}');
    const verdict = { of: 'annotation', name: 'team/image', kind: 'scalar' };
    const may = 'set a value; an unusual value is compared with a harmless one';
    assert.deepEqual(explain(template, pod).annotations, [{ ...verdict, may, value: 'x:1' }]);
    assert.deepEqual(explain(template, sleep).annotations, [{ ...verdict, may, value: undefined }]);
    assert.deepEqual(explain('', bare).annotations, []);
  });

  it('finds problems at their lines', () => {
    assert.deepEqual(lintTexts({ config: hello, pod: sleep }), []);
    const [syntax] = lintTexts({ config: hello.replace('{{ .Values.image }}', '{{ nothing }}'), pod: sleep });
    assert.deepEqual([syntax?.side, syntax?.level], ['config', 'error']);
    assert.match(syntax?.message ?? '', /^InjectorConfig default: .*nothing.*\[template-syntax\]$/s);
    assert.equal(hello.split('\n')[(syntax?.line ?? 0) - 1]?.trim(), 'image: {{ .Values.image }}');
    const other = hello.replace('{{ .Values.image }}', '{{ nothing }}');
    const [beside, ...more] = lintTexts({ config: hello, pod: sleep, other });
    assert.deepEqual([beside?.side, beside?.line, more], ['other', syntax?.line, []]);
    const [yaml] = lintTexts({ config: hello, pod: 'a: [' });
    assert.deepEqual([yaml?.side, yaml?.line, yaml?.level], ['pod', 2, 'error']);
  });
});
