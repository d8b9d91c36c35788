import assert from 'node:assert/strict';
import type { CheckReport } from '../check/check-report.ts';
import { runCommand, recordingTerminal, sees, type Seen } from '../testdata/recording-terminal.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';
import { UsageError } from '../terminal.ts';
import { readFileObjects } from './check.ts';

const config = `apiVersion: sidecar-injector.io/v1alpha1
kind: InjectorConfig
metadata: {name: "1-24"}
spec:
  injection:
    templates:
      sidecar: |
        spec:
          containers:
          - {name: hello, image: busybox}
`;
const tag = `apiVersion: sidecar-injector.io/v1alpha1
kind: RevisionTag
metadata: {name: prod}
spec: {revision: "1-24"}
`;

function namespace(name: string, labels: string): string {
  return `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {${labels}}}\n`;
}

function workload(kind: string, apiVersion: string, name: string, labels = ''): string {
  const template = `{metadata: {labels: {${labels}}}, spec: {containers: [{name: app, image: app}]}}`;
  const spec = kind === 'CronJob' ? `{jobTemplate: {spec: {template: ${template}}}}` : `{template: ${template}}`;
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: shop}\nspec: ${spec}\n`;
}

function pod(name: string, where: string, metadata = ''): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, namespace: ${where}${metadata}}\nspec: {containers: [{name: app, image: app}]}\n`;
}

function notesOf(report: CheckReport | undefined): string {
  return (report?.notes ?? []).join('; ');
}

describe('injector check -f', () => {
  const { write } = temporaryFolder();
  const check = (documents: readonly string[], ...argv: string[]): Promise<Seen> =>
    runCommand(['check', '-f', write('objects.yaml', documents.join('---\n')), ...argv]);
  const reports = async (documents: readonly string[], ...argv: string[]): Promise<CheckReport[]> => {
    return JSON.parse((await check(documents, ...argv, '-o', 'json')).out) as CheckReport[];
  };

  const shop = namespace('shop', 'istio.io/rev: prod');
  const kinds: [kind: string, apiVersion: string][] = [
    ['Deployment', 'apps/v1'],
    ['StatefulSet', 'apps/v1'],
    ['DaemonSet', 'apps/v1'],
    ['ReplicaSet', 'apps/v1'],
    ['ReplicationController', 'v1'],
    ['Job', 'batch/v1'],
    ['CronJob', 'batch/v1'],
  ];
  for (const [kind, apiVersion] of kinds) {
    it(`reports Injected and exits with 0 for a ${kind} in a namespace that follows a tag`, async () => {
      const documents = [config, tag, shop, workload(kind, apiVersion, 'web')];
      const { code } = await check(documents);
      const [report] = await reports(documents);
      assert.deepEqual([code, report?.result, report?.kind], [0, 'Injected', kind]);
      assert.match(report?.injectedBy[0] ?? '', /^1-24\./);
      assert.equal(report?.webhooks.find(({ outcome }) => outcome === 'Injected')?.target?.tag, 'prod');
    });
  }

  it('reports NotInjected with exit status 3, the steps and the remedies', async () => {
    const { code, out } = await check([config, namespace('shop', ''), workload('Deployment', 'apps/v1', 'web')]);
    assert.equal(code, 3);
    assert.match(out, /^deployment\/web in namespace shop: NotInjected\n {2}why: no webhook selects the pod;/);
    assert.match(out, /webhooks that do not match .*: 2, of sidecar-injector-1-24\n/);
    assert.match(out, /kubectl label namespace shop istio.io\/rev=1-24 --overwrite/);
    assert.match(
      out,
      /kubectl patch deployment web -n shop --type merge -p '\{"spec":\{"template":\{"metadata":\{"labels":\{"istio.io\/rev":"1-24"\}\}\}\}\}'/,
    );
  });

  it('advises to recreate a pod and a Job, and to patch a CronJob', async () => {
    const labels = namespace('shop', '');
    const { out } = await check(
      [config, labels, pod('one', 'shop'), workload('CronJob', 'batch/v1', 'cron'), workload('Job', 'batch/v1', 'job')],
      '--steps',
    );
    assert.match(out, /recreate the pod with the label istio.io\/rev=1-24/);
    assert.match(out, /kubectl patch cronjob cron .*"jobTemplate":\{"spec":\{"template"/);
    assert.match(out, /recreate the Job job with the label istio.io\/rev=1-24/);
  });

  it('names the broken template, with exit status 2', async () => {
    const broken = config.replace('busybox', '"{{ .Values.x }"');
    sees(await check([broken, shop, pod('web', 'shop')]), 2, {
      errors: /^error: InjectorConfig 1-24: config\.templates\.sidecar: line 3, column 40: unexpected "}" in operand\n/,
    });
  });

  it('prints advice once, for a pod without a template and with a wrong value', async () => {
    const byDefault = config.replace('"1-24"', 'default');
    const annotated = pod('web', 'shop', ', annotations: {sidecar.istio.io/inject: maybe}');
    const { out } = await check([byDefault, namespace('shop', ''), annotated]);
    assert.match(out, /sidecar\.istio\.io\/inject=maybe has no effect: make\s+it a label of the pod, true or false\n/);
    assert.equal(out.match(/recreate the pod with the label sidecar\.istio\.io\/inject=true/g)?.length, 1, out);
  });

  it('exits with the code of the worst result: 4 for Refused', async () => {
    const annotated = pod('bad', 'shop', ', annotations: {inject.istio.io/templates: other}');
    const { code, out } = await check([config, tag, shop, pod('good', 'shop'), annotated]);
    assert.equal(code, 4);
    assert.match(out, /pod\/good +Injected/);
    assert.match(out, /pod\/bad +Refused/);
  });

  const strange = (condition: string): string =>
    `${config}  webhook: {matchConditions: [{name: strange, expression: ${JSON.stringify(condition)}}]}\n`;

  it('exits with 5 for Unknown, and suggests --dry-run', async () => {
    sees(await check([strange("quantity('1').isInteger()"), tag, shop, pod('one', 'shop')]), 5, {
      out: /use --dry-run to ask the API server/,
    });
  });

  it('--as names the creator of the pod', async () => {
    const documents = [strange("request.userInfo.username == 'ann'"), tag, shop, pod('one', 'shop')];
    assert.equal((await check(documents)).code, 5);
    assert.equal((await check(documents, '--as', 'ann')).code, 0);
    assert.equal((await check(documents, '--as', 'bob')).code, 3);
  });

  it('treats a namespace that is not in the files as unlabeled, and adds a note', async () => {
    const [report] = await reports([config, tag, pod('one', 'elsewhere')]);
    assert.equal(report?.result, 'NotInjected');
    assert.match(notesOf(report), /namespace elsewhere was not found/);
  });

  it('explains that a paused InjectorConfig has no webhook', async () => {
    const paused = `${config}  paused: true\n`;
    const [report] = await reports([paused, namespace('shop', 'istio.io/rev: 1-24'), pod('one', 'shop')]);
    assert.deepEqual([report?.reason, report?.command], ['Paused', 'injector enable 1-24']);
    assert.match(notesOf(report), /InjectorConfig 1-24 is paused/);
  });

  it('uses one of two overlapping InjectorConfigs', async () => {
    const other = config.replace('"1-24"}', '"other"}').replace('spec:\n', 'spec:\n  revision: "1-24"\n');
    const [report] = await reports([config, other, namespace('shop', 'istio.io/rev: 1-24'), pod('one', 'shop')]);
    assert.match(notesOf(report), /InjectorConfig other has no webhook: it yields to InjectorConfig 1-24/);
    assert.equal(report?.injectedBy.length, 1);
  });

  const foreigners: [title: string, selector: string, code: number, mention: RegExp][] = [
    ['selects every pod', '', 0, /sidecar-injector.istio.io \(another injector, Fail\): called /],
    [
      'selects by the same label',
      '  namespaceSelector: {matchLabels: {istio.io/rev: prod}}\n',
      3,
      /^pod\/one in namespace shop: Injected \S+ why: injected twice: webhook configuration istio-sidecar-injector of another injector selects .* to change this: injector disable 1-24 /,
    ],
  ];
  for (const [title, selector, status, mention] of foreigners) {
    it(`exits with ${status} if another product's webhook ${title}`, async () => {
      const foreign = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: istio-sidecar-injector}
webhooks:
- name: namespace.sidecar-injector.istio.io
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
  clientConfig: {service: {namespace: istio-system, name: istiod, path: /inject}}
${selector}`;
      const { out, code } = await check([foreign, config, tag, shop, pod('one', 'shop')]);
      assert.match(out.replaceAll(/\s+/g, ' '), mention);
      assert.equal(code, status);
    });
  }

  const wrong: [title: string, run: () => Promise<Seen>, mention: RegExp][] = [
    ['a call without an object', () => runCommand(['check']), /name what to check/],
    ['a call with names and files', () => runCommand(['check', 'pod/x', '-f', '/nowhere.yaml']), /name what to check/],
    ['an unknown type', () => runCommand(['check', 'secret/x']), /TYPE is one of pod, namespace, deployment/],
    ['a missing name', () => runCommand(['check', 'pod/']), /TYPE\/NAME/],
    [
      'files without pods or workloads',
      () => check([config, tag, config.replace('1-24', '1-25')]),
      /no pods or workloads \(only InjectorConfig, RevisionTag\): add the Pod or the workload .* its Namespace/,
    ],
    ['an empty file', () => check(['']), /no pods or workloads \(they are empty\): add the Pod/],
    ['a missing file', () => runCommand(['check', '-f', '/nowhere.yaml']), /\/nowhere.yaml: no such file/],
    ['a file without a Kubernetes object', () => check(['- 1\n']), /without apiVersion and kind/],
    ['invalid YAML', () => check(['a: b: c\n']), /not YAML: line 1/],
    ['an unknown field', () => check([config.replace('templates:', 'tempaltes:'), pod('a', 'b')]), /tempaltes/],
    ['--dry-run without a cluster', () => check([config, pod('a', 'b')], '--dry-run'), /--dry-run: remove it; files/],
    [
      '--as-group without --as',
      () => check([config, pod('a', 'b')], '--as-group', 'x'),
      /--as-group: also name the user with --as/,
    ],
  ];
  for (const [title, run, mention] of wrong) {
    it(`exits with 2 for ${title}`, async () => {
      sees(await run(), 2, { errors: mention });
    });
  }
});

function read(input: string): Promise<KubernetesObject[]> {
  return readFileObjects(recordingTerminal(input).terminal, ['-']);
}

function namesOf(objects: readonly KubernetesObject[]): (string | undefined)[] {
  return objects.map(({ metadata }) => metadata.name);
}

const one = 'apiVersion: v1\nkind: Pod\nmetadata: {name: one}\n';
const two = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "two"}}\n';

describe('readFileObjects', () => {
  const found: [title: string, text: string, names: (string | undefined)[]][] = [
    ['reads YAML and JSON', `${one}---\n${two}`, ['one', 'two']],
    ['skips empty documents', `---\n# nothing\n---\n${one}---\nnull\n`, ['one']],
    ['reads the items of a List', `apiVersion: v1\nkind: List\nitems: [${two.trim()}, null]\n`, ['two']],
    ['reads a List in a List', 'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: []}]\n', []],
    ['reads a List without items', 'apiVersion: v1\nkind: List\n', []],
    ['reads an object with invalid metadata', 'apiVersion: v1\nkind: Pod\nmetadata: 7\n', [undefined]],
  ];
  for (const [title, text, names] of found) {
    it(title, async () => {
      assert.deepEqual(namesOf(await read(text)), names);
    });
  }

  const refused: [title: string, text: string, mention: RegExp][] = [
    ['a list', '- 1\n', /without apiVersion and kind/],
    ['a string', 'hello\n', /without apiVersion and kind/],
    ['an object without kind', 'apiVersion: v1\n', /without apiVersion and kind/],
    ['a number as kind', 'apiVersion: v1\nkind: 7\n', /without apiVersion and kind/],
    ['a number in a List', 'apiVersion: v1\nkind: List\nitems: [7]\n', /without apiVersion and kind/],
    ['invalid YAML', `${one}---\na: b: c\n`, /-: not YAML: line \d+, column/],
  ];
  for (const [title, text, mention] of refused) {
    it(`refuses ${title}`, async () => {
      await assert.rejects(read(text), (error) => error instanceof UsageError && mention.test(error.message));
    });
  }

  describe('with several files', () => {
    const { write } = temporaryFolder();
    it('reads the files in order', async () => {
      const files = [one, two].map((text, index) => write(`${index}.yaml`, text));
      assert.deepEqual(namesOf(await readFileObjects(recordingTerminal().terminal, files)), ['one', 'two']);
    });
  });
});
