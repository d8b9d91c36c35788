import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inject } from '../inject.ts';
import { loadInjector } from '../injector.ts';
import {
  given,
  present,
  quoted,
  required,
  said,
  messageOf,
  podOf,
  reasonOf,
  safely,
  sidecar,
  variable,
  written,
  type Author,
} from './testdata/authors.ts';

/** A sidecar whose image is what the template makes. */
const image = (made: string): string => sidecar('').replace('sidecar:1', made);
/** A list of one item, and a text, in block style. */
const list = (lines: string): string => sidecar(lines.replaceAll('\n', '\n    '));
const labels = (value: string): string => `metadata:\n  labels:\n    app: ${value}\n`;
const breaksOut = 'x\n    evil: z';
const breaking = { app: breaksOut };
const either = (one: string, other: string): string => `{{ if ${given} }}${one}{{ else }}${other}{{ end }}`;
const misfit = /annotation example\.com\/team .*does not fit where the template puts it/;

describe('an author may not change more than values', () => {
  const shell = 'command: [/bin/sh, -c]\n    args: ';
  /** A line of a sidecar that shows the annotation with a text. */
  const lines: [title: string, line: string, text: string, message: RegExp][] = [
    ['an argument', `args: [${said}]`, 'x, z', /spec\.containers\[sidecar\]\.args/],
    ['nothing', `workingDir: ${said}`, '~', /workingDir/],
    ['a privilege', `securityContext: {privileged: {{ eq ${given} "yes" }}}`, 'yes', /securityContext\.privileged/],
    ['a privilege by presence', present('securityContext: {privileged: true}'), 'no', /securityContext/],
    ['a text for a map', `resources: ${either('{requests: {cpu: 1}}', 'none')}`, 'x', /resources/],
    ['the name of a variable', `env: [{name: ${said}, value: x}]`, 'LD_PRELOAD', /env/],
    ['a name of a variable that comes and goes', `env: [${present(`{name: ${said}, value: x}`)}]`, 'LD_PRELOAD', /env/],
    ['a command', `command: [run, ${quoted}]`, 'evil', /command/],
    ['a script', `${shell}[{{ printf "echo %s" ${given} | quote }}]`, 'evil', /spec\.containers\[sidecar\]\.args/],
    ['another host for a probe', `livenessProbe: {httpGet: {port: 80, host: ${quoted}}}`, '10.0.0.1', /host/],
    ['what is of the wrong type', `ports: [{containerPort: ${said}}]`, 'http', misfit],
  ];
  /** A template that shows the annotation with a text. */
  const annotated: [title: string, template: string, text: string, message: RegExp][] = [
    [
      'a container',
      list(`args:\n- ${said}`),
      'x\n  - name: evil\n    image: evil:1',
      /annotation example\.com\/team \(value "x\\n {2}- name: evil\\n.*would change more than a value at spec\.containers/,
    ],
    [
      'a field',
      variable(said),
      'x, valueFrom: {secretKeyRef: {name: s, key: k}}',
      /spec\.containers\[sidecar\]\.env\[TEAM\]/,
    ],
    ['a list', variable(said), '[x]', /does not fit|more than a value/],
    ['what YAML makes nothing of', list(`env:\n- name: TEAM\n  value: ${said}`), '|-', /env\[TEAM\]\.value/],
    ['an image', image(said), 'evil/image', /would change what runs.*spec\.containers\[sidecar\]\.image/],
    ['a part of an image', image(`hub/{{ ${given} | upper }}:1`), 'evil/image', /\.image/],
    ...[
      [`proxy:${said}`, 'v2'],
      [`{{ trunc -9 ${given} }}`, 'benign.evil/team'],
      [`{{ trimAll "x" ${given} }}`, 'xxxxevil'],
      [`{{ printf "%.3s" ${given} }}`, 'evilness'],
      [`{{ ${given} | printf "%x" }}`, 'evil'],
    ].map(([made = '', value = '']): [string, string, string, RegExp] => [
      `an image made by ${made.replaceAll(given, '.')}`,
      image(made),
      value,
      /would change what runs.*(?:\.image|the whole)/,
    ]),
    ['an image that the template insists on', required + image(said), 'evil/image', /\.image/],
    ['a volume or none', `spec: ${either('{volumes: [{name: v, emptyDir: {}}]}', '{}')}`, 'no', /spec\.volumes\[v\]/],
    ['a list for something else', `spec: ${either('[]', '{a: b}')}`, 'x', /does not fit|at spec/],
    ['what makes YAML unreadable', variable(`"${said}"`), '"', misfit],
    ['a very long text', variable(`"${said}"`), `"${'x'.repeat(5000)}`, /value "\\"x{63}…"/],
    ...lines.map(([title, line, ...shown]): (typeof lines)[number] => [title, sidecar(line), ...shown]),
  ];
  type Refused = [title: string, template: string, author: Author, message: RegExp];
  const refused: Refused[] = [
    ...annotated.map(([title, template, text, message]): Refused => [title, template, written(text), message]),
    ['a label that breaks out', labels('{{ index .ObjectMeta.Labels "app" }}'), { labels: breaking }, /label app /],
    [
      'a name that breaks out',
      labels('{{ .DeploymentMeta.Name }}'),
      { metadata: { name: breaksOut } },
      /the pod's metadata\.ownerReferences\[\]\.name .*quotes/,
    ],
    [
      'a field of the spec that breaks out',
      labels('{{ (index .Spec.Containers 0).Name }}'),
      { spec: { containers: [{ name: breaksOut }] } },
      /the pod's spec\.containers\[\]\.name/,
    ],
    [
      'all of the metadata',
      `metadata:\n  annotations:\n    all: "{{ toYaml .ObjectMeta | replace "\\n" " " }}"\n`,
      { metadata: { name: 'x', generateName: 'y" z' } },
      /the pod's metadata /,
    ],
    [
      'the name of an annotation',
      `metadata:\n  labels:\n{{ range $k, $v := .ObjectMeta.Annotations }}    x-{{ $k }}: {{ $v | quote }}\n{{ end }}`,
      { annotations: { 'a: b\n    evil': 'z' } },
      /annotation "a: b/,
    ],
  ];
  for (const [title, template, author, message] of refused) {
    it(title, () => {
      const result = safely(template, author);
      assert.equal(reasonOf(result), 'UnsafeAnnotation', JSON.stringify(result));
      assert.match(messageOf(result), message);
    });
  }

  it('names the one of several that makes the difference', () => {
    const template = `metadata:\n  labels:\n    a: {{ .ObjectMeta.Annotations.a | quote }}\n    b: {{ .ObjectMeta.Annotations.b }}\n    c: {{ .ObjectMeta.Annotations.c | quote }}\n`;
    const result = safely(template, { annotations: { a: 'x y', b: 'x\n    evil: z', c: 'x: y' } });
    assert.match(messageOf(result), /^annotation b /);
  });

  it('names one of several that make it together', () => {
    const template = `${sidecar('')}    {{ if or .ObjectMeta.Annotations.a .ObjectMeta.Annotations.b }}securityContext: {privileged: true}{{ end }}\n`;
    const result = safely(template, { annotations: { a: 'x', b: 'y' } });
    assert.match(messageOf(result), /^annotation a .* at spec\.containers\[sidecar\]\.securityContext/);
  });

  it('leaves a failure that is nobody’s text as it is', () => {
    assert.equal(reasonOf(safely('{{ fail "always" }}', written('x'))), 'TemplateFailed');
  });

  it('does what Istio does when nothing is said', () => {
    const config = JSON.stringify({ templates: { sidecar: image(said) }, policy: 'enabled' });
    const injector = loadInjector({ config, values: '', mesh: '', settings: '' });
    assert.equal(injector.guard, undefined);
    assert.equal(inject(injector, { pod: podOf(written('evil')), namespace: 'shop' }).outcome, 'injected');
  });

  it('whatever the text', () => {
    const config = JSON.stringify({ templates: { sidecar: variable(`"${said}"`) }, policy: 'enabled' });
    const settings = '{"annotationOverrides": {"preset": "Safe"}}';
    const injector = loadInjector({ config, values: '', mesh: '', settings });
    const part = fc.constantFrom('"', "'", '\n', ' ', ',', '}', 'a', ': ', '- ', '#', '\\', '{', 'name: evil');
    const text = fc.array(part, { minLength: 1 });
    fc.assert(
      fc.property(text, (parts) => {
        const result = inject(injector, { pod: podOf(written(parts.join(''))), namespace: 'shop' });
        if (result.outcome !== 'injected') {
          assert.match(result.message, /^annotation example\.com\/team /);
          return;
        }
        const { containers } = (result.pod as { spec: { containers: { name: string; env?: unknown[] }[] } }).spec;
        assert.equal(containers.map(({ name, env }) => `${name} ${env?.length}`).join(), 'sidecar 1,web undefined');
      }),
    );
  });
});

describe('an author is refused what was found by trying it as an attacker', () => {
  const script = written('x; id > /d/pwned');
  const shells: [title: string, line: string][] = [
    ['a shell by its path', `command: ["/bin/sh"]\n    args: [-c, ${quoted}]`],
    ['options in a cluster', `command: [sh, -ec]\n    args: [${quoted}]`],
    ['busybox', `command: [busybox, sh, -c]\n    args: [${quoted}]`],
    ['tini', `command: [tini, --, sh, -c]\n    args: [${quoted}]`],
    ['env', `command: [/usr/bin/env, bash, -c]\n    args: [${quoted}]`],
    ['no command', `args: [sh, -c, ${quoted}]`],
    ['python', `command: [python, -c]\n    args: [${quoted}]`],
    ['a script that looks like a flag', `command: [sh, -c]\n    args: [{{ printf "--level=%s" ${given} | quote }}]`],
    ['a flag that evaluates', `command: [node]\n    args: [{{ printf "--eval=%s" ${given} | quote }}]`],
    ['a whole flag', `args: [--level=1, ${quoted}]`],
  ];
  for (const [title, line] of shells) {
    it(`a script: ${title}`, () => {
      assert.equal(reasonOf(safely(sidecar(line), script)), 'UnsafeAnnotation');
    });
  }

  const steered = [
    `privileged: {{ and ${given} true }}`,
    `privileged: {{ or (not ${given}) false }}`,
    `runAsUser: {{ annotation .ObjectMeta "example.com/team" "1000" }}`,
    `runAsNonRoot: {{ annotation .ObjectMeta "example.com/team" "true" }}`,
    `readOnlyRootFilesystem: {{ annotation .ObjectMeta "example.com/team" "true" }}`,
  ];
  for (const line of steered) {
    for (const text of ['', ' ', 'true', '_']) {
      it(`securityContext with ${line} and ${JSON.stringify(text)}`, () => {
        const [result, plain] = [written(text), {}].map((author) => {
          const one = safely(sidecar(`securityContext: {${line}}`), author);
          return one.outcome === 'injected' ? (one.pod.spec as { containers: unknown }).containers : reasonOf(one);
        });
        if (result !== 'UnsafeAnnotation') assert.deepEqual(result, plain);
      });
    }
  }

  it('the end of a path', () => {
    const template =
      'spec: {volumes: [{name: d, hostPath: {path: "/data/{{ annotation .ObjectMeta "example.com/team" "shared" }}"}}]}';
    assert.equal(safely(template, written('')).outcome, 'failed');
    assert.equal(safely(template, {}).outcome, 'injected');
  });

  const failing: [title: string, template: string, author: Author][] = [
    ...['A', 'AB', '_', '__', 'PRELOAD'].map((text): [string, string, Author] => [
      `a part of the name of a variable: ${text}`,
      sidecar(`env: [{name: "LD_${said}", value: x}]`),
      written(text),
    ]),
    [
      'the name of a variable that the template has elsewhere',
      sidecar(`env: [${either(`{name: ${said}, value: x}`, '{name: TEAM, value: LD_PRELOAD}')}]`),
      written('LD_PRELOAD'),
    ],
    [
      'the name of an annotation as that of a variable, though it be a word of the template',
      sidecar(`env: [{{ range $k, $v := .ObjectMeta.Annotations }}{name: {{ $k }}, value: x},{{ end }}]`),
      { annotations: { value: 'y' } },
    ],
    ['that there are labels', sidecar(`workingDir: /{{ toJSON .ObjectMeta.Labels | len }}`), { labels: { a: 'b' } }],
    ...['', '0', '8', 'x'].map((n): [string, string, Author] => [
      `what a template that insists on a text makes of it: ${JSON.stringify(n)}`,
      sidecar(`securityContext: {privileged: {{ ne (atoi .ObjectMeta.Labels.n) 0 }}}`),
      { labels: { n } },
    ]),
  ];
  for (const [title, template, author] of failing) {
    it(title, () => {
      assert.equal(safely(template, author).outcome, 'failed');
    });
  }

  it('a byte of a text', () => {
    const template = sidecar(`securityContext: {runAsUser: {{ index ${given} 0 }}}`);
    assert.equal(safely(template, written('0')).outcome, 'failed');
    assert.equal(safely(template, { annotations: {}, labels: { team: 'x' } }).outcome, 'failed');
  });
});
