import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type RuleName, lintRules } from '../../explain/lint/rules.ts';
import { lintFiles, type PlacedFinding } from '../../explain/lint/lint-files.ts';
import { sarifLog } from '../lint/sarif.ts';
import { runCommand, sees } from '../testdata/recording-terminal.ts';
import { refusal, RevisionCluster } from '../testdata/revision-cluster.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

const rules = Object.keys(lintRules) as RuleName[];
const exampleOf = (rule: string): string => readFileSync(`docs/lint/${rule}.yaml`, 'utf8');
const lintText = (text: string): readonly PlacedFinding[] => lintFiles([{ name: 'a.yaml', text }]).findings;

/** Returns an InjectorConfig with one template, which adds a container without problems. */
function config(container = '', { spec = '', name = 'example' } = {}): string {
  return `apiVersion: sidecar-injector.io/v1alpha1
kind: InjectorConfig
metadata: {name: ${name}}
spec:
  ${spec}
  injection:
    templates:
      sidecar: |
        spec:
          initContainers:
          - name: logger
            image: registry.example.com/logger:1.0
            restartPolicy: Always
            resources: {requests: {cpu: 10m, memory: 16Mi}}
            securityContext: {capabilities: {drop: [ALL]}}
            ${container}
`;
}

describe('injector lint', () => {
  const { path, write } = temporaryFolder();

  for (const rule of rules) {
    it(`finds ${rule}, and nothing else, in its example`, () => {
      const found = lintText(exampleOf(rule));
      assert.deepEqual([...new Set(found.map((each) => each.rule))], [rule]);
    });
  }

  it('finds nothing in a good configuration', async () => {
    const seen = await runCommand(['lint', write('good.yaml', config())]);
    sees(seen, 0, { out: /^0 errors, 0 warnings, 0 notes in 1 object\n$/ });
  });

  it('lets an API server validate injected pods only with --server', async () => {
    const cluster = new RevisionCluster();
    await cluster.start();
    for (const name of ['default', 'apps']) cluster.addNamespace(name);
    const file = write('mount.yaml', config('workingDir: /unknown'));
    const lint = (...argv: string[]) => cluster.injector(['lint', file, ...argv]);
    const refuses =
      /mount\.yaml:\d+:\d+: error: InjectorConfig example: the API server refuses 11 of 11 injected pods, such as a pod of a Deployment: spec\.initContainers\[0\]\.workingDir: Invalid value: "\/unknown": not allowed \[invalid-object\]\n/;
    sees(await lint('--server'), 4, { out: refuses });
    assert.equal(cluster.memory.dryRunPods[0]?.metadata.namespace, 'default');
    assert.deepEqual(cluster.changes, []);
    sees(await lint(), 2, { errors: /--context and --kubeconfig: also use --server/ });
    const directory = path('served');
    mkdirSync(directory);
    write(
      'served/config',
      'policy: enabled\ntemplates: {sidecar: "spec: {containers: [{name: a, image: b, workingDir: /unknown}]}"}\n',
    );
    write('served/values', '{}');
    const seen = await cluster.injector(['lint', '--config-dir', directory, '--server', '-n', 'apps']);
    sees(seen, 4, {
      out: /served\/config:2:\d+: error: configuration: the API server refuses .*\.workingDir: Invalid value/,
    });
    assert.equal(cluster.memory.dryRunPods.at(-1)?.metadata.namespace, 'apps');
    sees(await lint('--server', '-n', 'app'), 2, { errors: /there is no namespace app; .*did you mean apps\?/ });
    cluster.memory.faults.push(refusal('POST', '/pods', 403, 'exceeded quota'));
    sees(await lint('--server'), 0, { out: /: note: .*did not say whether injected pods are valid.*exceeded quota/ });
    await cluster.stop();
  });

  it('finds only the known problems of our own examples', () => {
    const found = readdirSync('examples', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => {
        const { findings } = lintFiles([{ name, text: readFileSync(`examples/${name}`, 'utf8') }]);
        const isNote = ({ rule, level }: PlacedFinding): boolean => level === 'note' && rule === 'author-annotation';
        const names = findings.filter((each) => !isNote(each)).map(({ rule }) => rule);
        return [name, [...new Set(names)].sort().join()];
      })
      .filter(([, names]) => names !== '');
    // The template of Istio 1.1 needs its privileges. With preset Istio, authors choose.
    assert.deepEqual(Object.fromEntries(found), {
      'istio-1.1-debug.yaml': 'endless-job,missing-resources,privileged-container,unrestricted-capabilities',
      'istio-1.1-release.yaml': 'endless-job,unrestricted-capabilities',
      'istio-config-maps.yaml': 'author-annotation',
      'revision-tag-canary.yaml': 'missing-reference',
      'revision-tag-restarts.yaml': 'missing-reference',
    });
  });

  const second = (field: string): string => `args: [a]
          - name: other
            image: registry.example.com/other:1.0
            securityContext: {capabilities: {drop: [ALL]}}
            ${field}`;
  const good = 'resources: {requests: {cpu: 10m, memory: 1Mi}}';
  const places: [title: string, text: string, rule: RuleName, line: number, column: number][] = [
    ['a field', config('', { spec: 'revison: 1-25' }), 'unknown-field', 5, 3],
    ['a function in a template', config('args: [{{ now | quote }}]'), 'unrepeatable-function', 16, 23],
    ['a container', config('ports: [{containerPort: 80, hostPort: 80}]'), 'host-access', 11, 13],
    ['a failure', config('args: [{{ index .Values.a 1 }}]'), 'template-fails', 16, 23],
    ['output that is not YAML', config(second(`args: [a\n            ${good}`)), 'template-fails', 21, 13],
    [
      'a value of the wrong type',
      config(
        second(
          `${good}\n            env:\n            - {name: A, value: a}\n            {{- if true }}\n            - {name: B, value: {{ add 1 2 }}}\n            {{- end }}`,
        ),
      ),
      'template-fails',
      24,
      13,
    ],
    ['a quantity', config(second('resources: {requests: {cpu: 10m, memory: 1x}}')), 'template-fails', 20, 13],
    ['an unknown field of a pod', config(second(`imag: a\n            ${good}`)), 'unknown-pod-field', 20, 13],
    [
      'a field without a value',
      config(second(`${good}\n            args: [{{ .Values.a.b }}]`)),
      'missing-value',
      21,
      13,
    ],
    [
      'an item of a List',
      `apiVersion: v1\nkind: List\nitems:\n- ${config('', { spec: 'revison: a' }).replaceAll('\n', '\n  ')}`,
      'unknown-field',
      8,
      5,
    ],
    ['another document', `a: 1\n---\n${config('', { spec: 'revison: a' })}`, 'unknown-field', 7, 3],
    [
      'a template in a ConfigMap',
      exampleOf('ignored-setting').replace('logger:1.0', '{{ nope }}'),
      'template-syntax',
      27,
      44,
    ],
    [
      'a template that is not a block',
      config().replace(/sidecar: [^]*/, 'sidecar: "{{ nope }}"\n'),
      'template-syntax',
      8,
      7,
    ],
    [
      'a block with its own indentation',
      config('args: [{{ now | quote }}]').replace('sidecar: |', 'sidecar: |1'),
      'unrepeatable-function',
      16,
      23,
    ],
    ['an alias without an anchor', 'a: sidecar-injector.io/\n---\nb: *c\n', 'invalid-yaml', 3, 4],
    [
      'too many aliases',
      `a: &a [sidecar-injector.io/,${'1,'.repeat(200)}]\nb: [${'*a,'.repeat(200)}]\n`,
      'invalid-yaml',
      1,
      1,
    ],
    [
      'an object without a name',
      'apiVersion: sidecar-injector.io/v1alpha1\nkind: InjectorConfig\n',
      'invalid-object',
      1,
      1,
    ],
    [
      'Windows line ends',
      config('args: [{{ now | quote }}]').replaceAll('\n', '\r\n'),
      'unrepeatable-function',
      16,
      23,
    ],
  ];
  for (const [title, text, rule, line, column] of places) {
    it(`names the place of ${title}`, () => {
      const found = lintText(text).map((each) => [each.rule, each.line, each.column]);
      assert.deepEqual(found, [[rule, line, column]]);
    });
  }

  it('reports every unrepeatable function and every unknown field', () => {
    const text = config('args: [{{ now }}, {{ if true }}{{ randAlpha 3 }}{{ end }}]', { spec: 'a: 1\n  b: 2' });
    const found = lintText(text).map(({ rule, message }) => `${rule} ${message.slice(-30)}`);
    assert.equal(found.filter((each) => each.startsWith('unknown-field')).length, 2);
    assert.equal(found.filter((each) => each.startsWith('unrepeatable-function')).length, 2);
  });

  it('names the field and value of a bad quantity, and prints what inject prints', async () => {
    const bad = write('quantity.yaml', config(second('resources: {requests: {cpu: 10m, memory: 1x}}')));
    const yaml = write('yaml.yaml', config('args: [a'));
    const rows: [file: string, said: RegExp][] = [
      [
        bad,
        /failed to run injection template: .*quantities must .*: "1x" in spec\.initContainers\.resources\.requests\.memory/,
      ],
      [yaml, /failed to run injection template: .*: invalid JSON document yaml: line 9: [a-z ]+[a-z]/],
    ];
    for (const [file, said] of rows) {
      const [text = ''] = said.exec((await runCommand(['lint', file])).out) ?? [];
      assert.notEqual(text, '');
      const { errors } = await runCommand(['inject', '-f', 'examples/sleep.yaml', '-c', file]);
      assert.equal(errors.split(text).length, 3, errors);
    }
  });

  it('says for how many kinds of pods a template fails', () => {
    const text = config('args: [{{ (index .Spec.InitContainers 0).Name }}]');
    const [found] = lintText(text);
    assert.equal(found?.rule, 'template-fails');
    assert.equal(found.level, 'warning');
    assert.match(found.message, /fails for \d+ of 200 typical pods, such as a pod of a Deployment/);
  });

  const combined = (mode: string, defaults: string): string => `apiVersion: sidecar-injector.io/v1alpha1
kind: InjectorConfig
metadata: {name: example}
spec:
  injection:
    nativeSidecars: ${mode}
    defaultTemplates: [${defaults}]
    templates:
      sidecar: |
        spec:
          {{ if .NativeSidecars }}initContainers{{ else }}containers{{ end }}:
          - name: istio-proxy
            {{ if .NativeSidecars }}restartPolicy: Always{{ end }}
            image: registry.example.com/proxy:1.0
            resources: {requests: {cpu: 10m, memory: 16Mi}}
            securityContext: {capabilities: {drop: [ALL]}}
      custom: |
        spec:
          containers:
          - name: istio-proxy
            env: [{name: A, value: b}]
`;
  const twice = /makes 11 of 11 typical pods, such as .*, unusable: .*image: Required value/;
  const jobs: [mode: string, defaults: string, levels: string[]][] = [
    ['Auto', 'sidecar', []],
    ['Enabled', 'sidecar', []],
    ['Disabled', 'sidecar', ['warning']],
    ['Disabled', 'custom', ['note']],
  ];
  for (const [mode, defaults, levels] of jobs)
    it(`says whether Jobs complete, mode ${mode}, by default ${defaults}`, () => {
      const found = lintText(combined(mode, defaults)).filter(({ rule }) => rule === 'endless-job');
      const ofSidecar = found.filter(({ message }) => message.startsWith('template sidecar: container istio-proxy '));
      assert.deepEqual(
        ofSidecar.map(({ level }) => level),
        levels,
      );
    });

  const combinations: [mode: string, defaults: string, level?: string][] = [
    ['Enabled', 'sidecar, custom', 'error'],
    ['Enabled', 'sidecar', 'note'],
    ['Disabled', 'sidecar, custom'],
    ['Disabled', 'sidecar'],
  ];
  for (const [mode, defaults, level] of combinations)
    it(`judges pods with a template that adds to istio-proxy, mode ${mode}, by default ${defaults}`, () => {
      const found = lintText(combined(mode, defaults)).filter(({ rule }) => rule === 'invalid-pod');
      assert.deepEqual(
        found.map((each) => each.level),
        level === undefined ? [] : [level],
      );
      for (const { message } of found) assert.match(message, twice);
    });

  it('notes a sidecar that is large for a pod with resources of its own, unless they grow', () => {
    const notes = (cpu: string, mode: string): string[] =>
      lintText(`${config(`resources: {requests: {cpu: ${cpu}}}`)}    podResources: ${mode}\n`)
        .filter(({ rule }) => rule === 'invalid-pod')
        .map(({ level, message }) => `${level}: ${message}`);
    const large = /^note: .*a pod that requests 1 CPU .*requests\[cpu\].*no room for container "\w+"; set injection/;
    assert.match(notes('901m', 'Keep').join(), large);
    for (const [cpu, mode] of [
      ['900m', 'Keep'],
      ['901m', 'Add'],
    ] as const)
      assert.deepEqual(notes(cpu, mode), []);
  });

  it('ends early for a template that exceeds a limit', () => {
    const [found] = lintText(config('args: [{{ range until 1000000 }}{{ range until 1000000 }}x{{ end }}{{ end }}]'));
    assert.equal(found?.rule, 'template-fails');
  });

  it('reports the trial of an annotation that preset Safe refuses for some values', () => {
    const text = config('args: [{{ index .ObjectMeta.Annotations "example.com/args" }}]');
    const found = lintText(text).filter(({ rule }) => rule === 'author-annotation');
    assert.match(found[0]?.message ?? '', /preset Safe refuses some values: annotation example.com\/args/);
    assert.equal(found[0]?.level, 'note');
  });

  it('compares the selectors of all files', () => {
    const files = [
      { name: 'a.yaml', text: config('', { name: 'a', spec: 'revision: x' }) },
      { name: 'b.yaml', text: config('', { name: 'b', spec: 'revision: x' }) },
    ];
    const found = lintFiles(files).findings.map(({ file, rule, message }) => [file, rule, message]);
    const message = 'selects the same pods as InjectorConfig a; only the older of the two gets a webhook';
    assert.deepEqual(found, [['b.yaml', 'overlapping-selectors', message]]);
  });

  const statuses: [title: string, args: string[], text: string, code: number][] = [
    ['errors', [], exampleOf('template-syntax'), 4],
    ['warnings', [], exampleOf('missing-resources'), 3],
    ['notes', [], exampleOf('missing-reference'), 0],
    ['ignored rules', ['--ignore', 'missing-resources'], exampleOf('missing-resources'), 0],
  ];
  for (const [title, args, text, code] of statuses) {
    it(`exits with ${code} for ${title}`, async () => {
      for (const output of ['text', 'json', 'sarif'])
        assert.equal((await runCommand(['lint', '-o', output, write('a.yaml', text), ...args])).code, code);
    });
  }

  it('prints findings as compilers do, and as JSON', async () => {
    const file = write('a.yaml', exampleOf('missing-resources'));
    const { out } = await runCommand(['lint', file]);
    const [line = ''] = out.split('\n');
    assert.ok(line.startsWith(`${file}:11:13: warning: InjectorConfig example: template sidecar: `), line);
    assert.ok(line.endsWith(' [missing-resources]'), line);
    const json = JSON.parse((await runCommand(['lint', file, '-o', 'json'])).out) as PlacedFinding[];
    const keys = ['file', 'line', 'column', 'level', 'rule', 'object', 'message'];
    assert.deepEqual(
      json.map((each) => Object.keys(each)),
      [keys],
    );
  });

  it('reads folders and standard input', async () => {
    mkdirSync(path('folder'));
    write('folder/a.yaml', config());
    write('folder/notes.txt', 'no YAML: [');
    write('folder/chart.yaml', 'kind: {{ .Values.kind }}\n{{ end }}\n');
    sees(await runCommand(['lint', path('folder')]), 0, { out: /in 1 object\n$/ });
    const seen = await runCommand(['lint', '-'], exampleOf('template-syntax'));
    sees(seen, 4, { out: /^-:12:60: error: / });
  });

  it("reads a directory with Istio's files", async () => {
    mkdirSync(path('istio'));
    write('istio/config', 'policy: enabled\ntemplates:\n  sidecar: |\n    spec: {{ nope }}\n');
    const seen = await runCommand(['lint', '--config-dir', path('istio')]);
    sees(seen, 4, { out: /istio\/config:4:14: error: configuration: template sidecar: function "nope" not defined/ });
  });

  const wrong: [title: string, args: string[], errors: RegExp][] = [
    ['no file', [], /name what to check/],
    ['an unknown rule', ['examples', '--ignore', 'missing-resource'], /no such rule; .*did you mean missing-resources/],
    ['files without our objects', ['examples/sleep.yaml'], /contain no InjectorConfig or RevisionTag/],
    ['a missing file', ['nowhere.yaml'], /nowhere.yaml: no such file/],
    ['a folder without files', ['src/cli/lint'], /contains no YAML or JSON files/],
  ];
  for (const [title, args, errors] of wrong) {
    it(`refuses ${title}`, async () => {
      sees(await runCommand(['lint', ...args]), 2, { errors });
    });
  }

  it('writes SARIF whose results name its rules and places', () => {
    const findings = rules.flatMap(
      (rule) => lintFiles([{ name: `./docs/${rule} a.yaml`, text: exampleOf(rule) }]).findings,
    );
    const log = sarifLog(findings) as SarifLog;
    const [{ tool, results }] = log.runs;
    assert.equal(log.version, '2.1.0');
    assert.equal(results.length, findings.length);
    for (const [index, { ruleId, ruleIndex, level, locations }] of results.entries()) {
      assert.equal(tool.driver.rules[ruleIndex]?.id, ruleId);
      assert.equal(level, findings[index]?.level);
      assert.equal(locations[0].physicalLocation.artifactLocation.uri, `docs/${ruleId}%20a.yaml`);
      assert.ok(locations[0].physicalLocation.region.startLine > 0);
    }
  });

  it('reports damaged files instead of failing', () => {
    const texts = [
      ...rules.map(exampleOf),
      ...['hello', 'istio-config-maps'].map((name) => readFileSync(`examples/${name}.yaml`, 'utf8')),
    ];
    const damage = fc.record({
      text: fc.constantFrom(...texts),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.nat(40),
      inserted: fc.constantFrom('', '{{', '}}', ': ', '\n', '- ', 'null', '[', '&a *a', '"', '\t', '0x', '$', '!!set'),
    });
    fc.assert(
      fc.property(damage, ({ text, at, length, inserted }) => {
        const start = Math.floor(at * text.length);
        const damaged = text.slice(0, start) + inserted + text.slice(start + length);
        const lines = damaged.split('\n').length;
        for (const { line, column, message } of lintText(damaged)) {
          assert.ok(line >= 1 && line <= lines && column >= 1, `${line}:${column} of ${lines} lines`);
          assert.notEqual(message, '');
        }
      }),
      { numRuns: 60 },
    );
  });
});

interface SarifLog {
  readonly version: string;
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly results: readonly {
        readonly ruleId: string;
        readonly ruleIndex: number;
        readonly level: string;
        readonly locations: readonly [
          {
            readonly physicalLocation: {
              readonly artifactLocation: { readonly uri: string };
              readonly region: { readonly startLine: number };
            };
          },
        ];
      }[];
    },
  ];
}
