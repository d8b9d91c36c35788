import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Command } from 'commander';
import { createProgram } from './program.ts';
import { recordingTerminal, runCommand } from './testdata/recording-terminal.ts';
import { RevisionCluster } from './testdata/revision-cluster.ts';
import { temporaryFolder } from './testdata/temporary-folder.ts';

describe('the command line', () => {
  const { path, write: file } = temporaryFolder();
  /** Returns the arguments of `inject` for an InjectorConfig with a spec. */
  const injecting = (spec: string, ...flags: string[]): string[] => {
    return ['inject', '-f', '-', '-c', file('i', injectorConfig(spec)), ...flags];
  };

  describe('exits with status 2 for', () => {
    const emptyConfig = () => ['--inject-config-file', file('ic', '')];
    const noValues = /--values-file: name a file with key values of ConfigMap mesh\/istio-values/;
    const beside = 'of ConfigMap istio-system/istio-sidecar-injector, to which configFrom';
    const noConfig = new RegExp(`--inject-config-file: name a file with key config ${beside}`);
    const noValuesBeside = new RegExp(`--values-file: name a file with key values ${beside}`);
    const scale = '--test-certificate-time-scale';
    const rows: [string, () => string[], RegExp][] = [
      ['an unknown command', () => ['tga'], /unknown command 'tga'\n\(Did you mean tag\?\)/],
      ['an unknown subcommand', () => ['tag', 'lst'], /unknown command 'lst'\n\(Did you mean list\?\)/],
      ['an unknown option', () => ['crd', '--outptu'], /unknown option '--outptu'\n\(Did you mean --output\?\)/],
      ['an unknown choice', () => ['crd', '-o', 'jsn'], /choices are yaml, json\.\n\(Did you mean json\?\)/],
      ['inject without a file', () => ['inject', '-c', 'x'], /required option '-f, --filename/],
      ['inject without an injector', () => ['inject', '-f', '-'], /--config FILE .* or --config-dir DIRECTORY/],
      ['annotations without an injector', () => ['annotations'], /--config FILE .* or --config-dir DIRECTORY/],
      ['a missing file', () => ['inject', '-f', '-', '-c', '/nowhere'], /--config \/nowhere: no such file/],
      ['a directory instead of a file', () => ['inject', '-f', '-', '-c', path()], /is a directory/],
      ['an object of another kind', () => ['inject', '-f', '-', '-c', file('k', 'kind: Pod')], /expected apiVersion/],
      ['invalid YAML', () => ['inject', '-f', '-', '-c', file('y', 'a: [')], /not YAML/],
      ['an unknown field', () => injecting('  injections: {}'), /spec\.injections: unknown field/],
      ['a violated rule between fields', () => injecting('  webhook: {selection: Custom}'), /spec\.webhook/],
      ['valuesFrom without its text', () => injecting(valuesFrom), noValues],
      ['configFrom without its text', () => injecting(configFrom), noConfig],
      ['configFrom without its values', () => injecting(configFrom, ...emptyConfig()), noValuesBeside],
      [
        'meshConfigFrom without its text',
        () => injecting(configFrom, '--values-file', file('iv', '{}'), ...emptyConfig()),
        /--mesh-config-file: name a file with key mesh of ConfigMap istio-system\/istio, to which meshConfigFrom/,
      ],
      [
        'a text without a reference',
        () => injecting(withTemplate('{}'), '--values-file', file('iv', '{}')),
        /--values-file: remove it; the InjectorConfig does not refer to such a text/,
      ],
      ['a template that does not parse', () => injecting(withTemplate('{{ if }}')), /templates\.sidecar.*line 1/s],
      ['two InjectorConfigs', () => injecting(` {}\n---\n${injectorConfig(' {}')}`), /i: contains 2 InjectorConfigs/],
      ['an empty InjectorConfig file', () => ['inject', '-f', '-', '-c', file('e', '# nothing')], /e: is empty/],
      [
        "an InjectorConfig instead of Istio's config",
        () => ['kube-inject', '-f', '-', '--injectConfigFile', file('ic', injectorConfig(' {}'))],
        /use `injector inject --config`/,
      ],
      ['a directory without config', () => ['inject', '-f', '-', '--config-dir', path()], /config: missing/],
      ['a missing template', () => ['template'], /--file, or several with --batch/],
      ['a single delimiter', () => ['template', '--file', '-', '--delims', '[['], /left and the right/],
      ['invalid JSON', () => ['template', '--file', '-', '--data', file('d', '{')], /not JSON/],
      ['data with a batch', () => ['template', '--batch', '-', '--data', 'x'], /a batch contains its own data/],
      ['a batch that is not a list', () => ['template', '--batch', '-'], /--batch: .*JSON array/],
      ['an invalid port', () => ['operator', '--webhook-port', '70000'], /from 0 .* to 65535/],
      ['an advertised IP address', () => ['operator', '--advertise', '10.0.0.1:443'], /must be a DNS name/],
      ['an advertised host without port', () => ['operator', '--advertise', 'localhost'], /must be HOST:PORT/],
      ['a factor below 1', () => ['operator', scale, '0.5'], new RegExp(`${scale}.*at least 1`)],
      ['an invalid identity', () => ['operator', '--identity', 'Me'], /must be a name: lower-case/],
      ['a count of 0.5', () => ['operator', '--requests-per-connection', '0.5'], /whole number from 1 to 1000000/],
      ['an invalid drain time', () => ['operator', '--drain-seconds', 'long'], /number of seconds/],
      ['invalid labels', () => ['operator', '--pod-selector', 'app'], /must be key=value/],
      ['a missing kubeconfig', () => ['operator', '--kubeconfig', '/nowhere'], /there is no such file/],
    ];
    for (const [title, argv, expected] of rows) {
      it(title, async () => {
        const seen = await runCommand(argv(), '{}');
        assert.match(seen.errors, expected);
        assert.equal(seen.code, 2);
        assert.equal(seen.out, '');
      });
    }
  });

  it('prints its version as text and JSON', async () => {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    assert.equal((await runCommand(['--version'])).out, `${(JSON.parse(manifest) as { version: string }).version}\n`);
    assert.match((await runCommand(['version'])).out, /^injector \d+\.\d+\.\d+ \(node v/);
    const { out } = await runCommand(['version', '-o', 'json']);
    assert.deepEqual(Object.keys(JSON.parse(out) as object), ['version', 'node', 'platform']);
  });

  it('prints the CustomResourceDefinitions of crds/', async () => {
    const written = ['injectorconfigs', 'revisiontags'].map((plural) => {
      const path = new URL(`../../crds/${plural}.sidecar-injector.io.yaml`, import.meta.url);
      return readFileSync(path, 'utf8').replace(/^#.*\n/, '');
    });
    assert.equal((await runCommand(['crd'])).out, written.join('---\n'));
    const list = JSON.parse((await runCommand(['crd', '-o', 'json'])).out) as { kind: string; items: unknown[] };
    assert.deepEqual([list.kind, list.items.length], ['List', 2]);
  });

  it('ends each help with two valid examples, within 80 columns', async () => {
    const program = await createProgram(recordingTerminal().terminal);
    const ends = ({ commands }: Command): Command[] => commands.flatMap((each) => [each, ...ends(each)]);
    for (const command of ends(program)) command.action(() => undefined);
    for (const command of [program, ...ends(program)]) {
      let text = '';
      command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
      assert.doesNotMatch(text, /.{81}/, command.name());
      const examples = text.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? [];
      assert.equal(examples.length, 2, command.name());
      for (const line of examples) {
        const [, ...words] = line.replace(/[|<>].*/, '').match(/\S+/g) ?? [];
        await program.parseAsync(words, { from: 'user' });
      }
    }
  });

  it('groups the commands in its help', async () => {
    const { out } = await runCommand(['--help']);
    const [, ...parts] = out.split(/\n\n(?=For|Other|Examples)/).slice(0, -1);
    assert.deepEqual(
      parts.map((part) => [
        part.split('\n')[0],
        part
          .match(/(?<=\n {2})\S+/g)
          ?.sort()
          .join(' '),
      ]),
      [
        ['For authors of pods:', 'analyze check revisions status'],
        [
          'For the platform team:',
          'adopt certs dashboard diff disable enable install operator release tag torture uninstall',
        ],
        ['For files, without a cluster:', 'annotations inject kube-inject lint playground serve template uninject'],
        ['Other commands:', 'completion crd help version'],
      ],
    );
    assert.doesNotMatch((await runCommand(['tag', '--help'])).out, /For|Other/);
  });

  describe('completion', () => {
    const cluster = new RevisionCluster();
    before(async () => {
      await cluster.start();
      cluster.addRevision('1-24');
      cluster.addTag('prod', '1-24');
    });
    after(() => cluster.stop());
    beforeEach(() => (process.env['KUBECONFIG'] = cluster.kubeconfig));
    afterEach(() => delete process.env['KUBECONFIG']);
    const rows: [current: string, words: string[], expected: string[]][] = [
      ['ta', [], ['tag']],
      ['r', ['tag'], ['remove', 'resume', 'retry']],
      ['--over', ['tag', 'set', 'x'], ['--overwrite']],
      ['j', ['crd', '-o'], ['json']],
      ['', ['completion'], ['bash', 'fish', 'powershell', 'zsh']],
      ['', ['crd', 'x'], []],
      ['p', ['tag', 'set', '-r', '1-24'], ['prod']],
      ['1', ['certs', 'status', '1-24'], ['1-24']],
      ['', ['tag', 'watch', '--context', 'nowhere'], []],
    ];
    for (const [current, words, expected] of rows) {
      it(`completes ${words.join(' ')} ${current}…`, async () => {
        const seen = await runCommand(['__complete', `--current=${current}`, '--', ...words]);
        assert.deepEqual([seen.out.split('\n').slice(0, -1), seen.errors, seen.code], [expected, '', 0]);
      });
    }

    it('prints the script of a shell', async () => {
      assert.match((await runCommand(['completion', 'powershell'])).out, /__complete "--current=/);
    });
  });

  describe('template', () => {
    it('renders a template', async () => {
      const data = file('data.json', '{"port": 1000000}');
      const seen = await runCommand(['template', '--file', '-', '--data', data], 'port {{ .port }}\n');
      assert.deepEqual(seen, { out: 'port 1e+06\n', errors: '', code: 0, questions: [] });
    });

    it('supports other delimiters and function families', async () => {
      const argv = ['template', '--file', '-', '--delims', '[[,]]', '--functions', 'builtin'];
      assert.equal((await runCommand(argv, '[[ len "abc" ]] {{ }}')).out, '3 {{ }}');
      assert.match((await runCommand(argv, '[[ upper "abc" ]]')).errors, /function "upper" not defined/);
    });

    it('marks the error with a caret, and exits with 1', async () => {
      const path = file('broken.tpl', 'one\ntwo {{ nil.x }}');
      const seen = await runCommand(['template', '--file', path]);
      assert.match(seen.errors, /broken\.tpl:2:\d+: .*\ntwo \{\{ nil\.x \}\}\n +\^$/);
      assert.equal(seen.code, 1);
    });

    it('renders a batch with errors', async () => {
      const rows = [{ template: '{{ .a }}', data: { a: 1.5 } }, { template: '{{ end }}' }];
      const output = path('batch.json');
      await runCommand(['template', '--batch', '-', '-o', output], JSON.stringify(rows));
      const results = JSON.parse(readFileSync(output, 'utf8')) as { out?: string; error?: string }[];
      assert.deepEqual(results[0], { out: '1.5' });
      assert.match(results[1]?.error ?? '', /unexpected \{\{end\}\}/);
    });
  });

  describe('inject', () => {
    const deployment =
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: web}]}}}\n';

    it('injects workloads, and keeps other documents unchanged', async () => {
      const service = 'apiVersion: v1\nkind: Service # mine\nmetadata: {name: web}\n';
      const argv = injecting(withTemplate('spec: {containers: [{name: side, image: side}]}'));
      const seen = await runCommand(argv, `${service}---\n${deployment}`);
      assert.equal(seen.errors, '');
      const [first, second] = seen.out.split('---\n');
      assert.equal(first, service);
      const [document] = parseAllDocuments(second ?? '');
      const containers = document?.getIn(['spec', 'template', 'spec', 'containers'], true);
      const names = (JSON.parse(JSON.stringify(containers)) as { name: string }[]).map(({ name }) => name);
      assert.deepEqual(names, ['side', 'web']);
    });

    it('reads the references of an InjectorConfig from files', async () => {
      const templates =
        'policy: enabled\ntemplates:\n  sidecar: "metadata: {labels: {from: {{ .Values.x }}, trust: {{ .MeshConfig.TrustDomain }}}}"\n';
      const texts = ['--inject-config-file', file('ic', templates), '--values-file', file('iv', '{"x": "values"}')];
      const mesh = ['--mesh-config-file', file('im', 'trustDomain: mesh.example')];
      const seen = await runCommand(injecting(configFrom, ...texts, ...mesh), deployment);
      assert.deepEqual([seen.code, seen.errors], [0, '']);
      assert.match(seen.out, /"from": "values"/);
      assert.match(seen.out, /"trust": "mesh\.example"/);
    });

    it("reads Istio's files from a directory", async () => {
      file('config', 'policy: disabled\ntemplates: {sidecar: "spec: {}"}\n');
      const seen = await runCommand(['inject', '-f', '-', '--config-dir', path(), '--delims', '[[,]]'], deployment);
      assert.equal(seen.out, deployment);
      assert.match(seen.errors, /Skipping injection because Deployment "?.*web.* is not selected/);
    });

    it('reads the InjectorConfig of a file with other objects, and warns about empty input', async () => {
      const config = file('m', `kind: Namespace\n---\n${injectorConfig(withTemplate('metadata: {labels: {a: b}}'))}`);
      const seen = await runCommand(['inject', '-f', '-', '-c', config], '\n');
      assert.deepEqual([seen.errors, seen.code], ['warning: -: is empty, so nothing was injected', 0]);
    });

    it('reports an object that cannot be injected, writes nothing and exits with 1', async () => {
      const argv = injecting(withTemplate('spec: {containers: [{{ index .Values "a" "b" }}]}'));
      const seen = await runCommand(argv, deployment);
      assert.match(seen.errors, /^warning: the operator would not publish this.*\nerror: -: Deployment .*web/);
      assert.deepEqual([seen.out, seen.code], ['', 1]);
    });
  });
});

const valuesFrom = '  injection: {template: "", valuesFrom: {namespace: mesh, name: istio-values, key: values}}';

const configFrom =
  '  injection: {configFrom: {namespace: istio-system, name: istio-sidecar-injector, key: config}, meshConfigFrom: {namespace: istio-system, name: istio, key: mesh}}';

function withTemplate(text: string): string {
  return `  injection: {templates: {sidecar: ${JSON.stringify(text)}}}`;
}

function injectorConfig(spec: string): string {
  return `apiVersion: sidecar-injector.io/v1alpha1\nkind: InjectorConfig\nmetadata: {name: trial}\nspec:\n${spec}\n`;
}
