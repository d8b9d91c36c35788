import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inject, injectFinally } from '../inject.ts';
import { loadInjector } from '../injector.ts';
import { harmlessTexts } from './harmless-text.ts';
import {
  input,
  present,
  quoted,
  required,
  bare,
  messageOf,
  podOf,
  reasonOf,
  safely,
  sidecar,
  variable,
  written,
  type Author,
} from './testdata/authors.ts';

/** Returns a sidecar with an image from a template. */
const image = (expression: string): string => sidecar('').replace('sidecar:1', expression);
/** Returns a sidecar with additional block-style lines. */
const list = (lines: string): string => sidecar(lines.replaceAll('\n', '\n    '));
const labels = (value: string): string => `metadata:\n  labels:\n    app: ${value}\n`;
const addsLine = 'x\n    evil: z';
const breaking = { app: addsLine };
const either = (one: string, other: string): string => `{{ if ${input} }}${one}{{ else }}${other}{{ end }}`;
const misfit = /annotation example\.com\/team .*does not fit where the template puts it/;

describe('guardAuthor', () => {
  const shell = 'command: [/bin/sh, -c]\n    args: ';
  /** Lines of a sidecar that use the annotation, with the annotation's text. */
  const lines: [title: string, line: string, text: string, message: RegExp][] = [
    ['an additional argument', `args: [${bare}]`, 'x, z', /spec\.containers\[sidecar\]\.args/],
    ['a null value', `workingDir: ${bare}`, '~', /workingDir/],
    ['a privilege', `securityContext: {privileged: {{ eq ${input} "yes" }}}`, 'yes', /securityContext\.privileged/],
    ['an annotation that adds a privilege', present('securityContext: {privileged: true}'), 'no', /securityContext/],
    ['a string instead of a map', `resources: ${either('{requests: {cpu: 1}}', 'none')}`, 'x', /resources/],
    ['the name of a variable', `env: [{name: ${bare}, value: x}]`, 'LD_PRELOAD', /env/],
    ['the name of an optional variable', `env: [${present(`{name: ${bare}, value: x}`)}]`, 'LD_PRELOAD', /env/],
    ['a command', `command: [run, ${quoted}]`, 'evil', /command/],
    ['a script', `${shell}[{{ printf "echo %s" ${input} | quote }}]`, 'evil', /spec\.containers\[sidecar\]\.args/],
    ['another host for a probe', `livenessProbe: {httpGet: {port: 80, host: ${quoted}}}`, '10.0.0.1', /host/],
    ['a value of the wrong type', `ports: [{containerPort: ${bare}}]`, 'http', misfit],
  ];
  /** Templates that use the annotation, with the annotation's text. */
  const annotated: [title: string, template: string, text: string, message: RegExp][] = [
    [
      'a container',
      list(`args:\n- ${bare}`),
      'x\n  - name: evil\n    image: evil:1',
      /annotation example\.com\/team \(value "x\\n {2}- name: evil\\n.*would change more than a value at spec\.containers/,
    ],
    [
      'a field',
      variable(bare),
      'x, valueFrom: {secretKeyRef: {name: s, key: k}}',
      /spec\.containers\[sidecar\]\.env\[TEAM\]/,
    ],
    ['a word that the template refuses', `{{ if eq ${input} "y" "" }}{{ else }}{{ fail "y!" }}{{ end }}`, 'x', misfit],
    ['a list', variable(bare), '[x]', /does not fit|more than a value/],
    ['a text that YAML reads as empty', list(`env:\n- name: TEAM\n  value: ${bare}`), '|-', /env\[TEAM\]\.value/],
    ['an image', image(bare), 'evil/image', /would change what runs.*spec\.containers\[sidecar\]\.image/],
    ['a part of an image', image(`hub/{{ ${input} | upper }}:1`), 'evil/image', /\.image/],
    ...[
      [`proxy:{{ annotation .ObjectMeta "example.com/team" "v1" }}`, 'v2'],
      [`{{ trunc -9 ${input} }}`, 'benign.evil/team'],
      [`{{ trimAll "x" ${input} }}`, 'xxxxevil'],
      [`{{ printf "%.3s" ${input} }}`, 'evilness'],
      [`{{ ${input} | printf "%x" }}`, 'evil'],
    ].map(([expression = '', value = '']): [string, string, string, RegExp] => [
      `an image from ${expression.replaceAll(input, '.')}`,
      image(expression),
      value,
      /would change what runs.*(?:\.image|the injected part)/,
    ]),
    ['an image from a required annotation', required + image(bare), 'evil/image', /\.image/],
    ['an optional volume', `spec: ${either('{volumes: [{name: v, emptyDir: {}}]}', '{}')}`, 'no', /spec\.volumes\[v\]/],
    ['a text that makes the YAML invalid', variable(`"${bare}"`), '"', misfit],
    ['a very long text', variable(`"${bare}"`), `"${'x'.repeat(5000)}`, /value "\\"x{63}…"/],
    ...lines.map(([title, line, ...shown]): (typeof lines)[number] => [title, sidecar(line), ...shown]),
  ];
  type Refused = [title: string, template: string, author: Author, message: RegExp];
  const refused: Refused[] = [
    ...annotated.map(([title, template, text, message]): Refused => [title, template, written(text), message]),
    ['a label that adds a line', labels('{{ index .ObjectMeta.Labels "app" }}'), { labels: breaking }, /label app /],
    [
      'a name that adds a line',
      labels('{{ .DeploymentMeta.Name }}'),
      { metadata: { name: addsLine } },
      /the pod's metadata\.ownerReferences\[\]\.name .*quotes/,
    ],
    [
      'a field of the spec that adds a line',
      labels('{{ (index .Spec.Containers 0).Name }}'),
      { spec: { containers: [{ name: addsLine }] } },
      /the pod's spec\.containers\[\]\.name/,
    ],
    [
      'odd metadata that the template prints as a whole',
      `metadata:\n  annotations:\n    all: "{{ toYaml .ObjectMeta | replace "\\n" " " }}"\n`,
      { metadata: { name: 'x', generateName: 'y" z' } },
      /the pod's metadata /,
    ],
    [
      'an annotation key that adds a line',
      `metadata:\n  labels:\n{{ range $k, $v := .ObjectMeta.Annotations }}    x-{{ $k }}: {{ $v | quote }}\n{{ end }}`,
      { annotations: { 'a: b\n    evil': 'z' } },
      /annotation "a: b/,
    ],
  ];
  for (const [title, template, author, message] of refused) {
    it(`refuses an author who sets ${title}`, () => {
      const result = safely(template, author);
      assert.equal(reasonOf(result), 'UnsafeAnnotation', JSON.stringify(result));
      assert.match(messageOf(result), message);
    });
  }

  it('names the one annotation that makes the difference', () => {
    const template = `metadata:\n  labels:\n    a: {{ .ObjectMeta.Annotations.a | quote }}\n    b: {{ .ObjectMeta.Annotations.b }}\n    c: {{ .ObjectMeta.Annotations.c | quote }}\n`;
    const result = safely(template, { annotations: { a: 'x y', b: 'x\n    evil: z', c: 'x: y' } });
    assert.match(messageOf(result), /^annotation b /);
  });

  it('names one of several annotations with the same effect', () => {
    const template = `${sidecar('')}    {{ if or .ObjectMeta.Annotations.a .ObjectMeta.Annotations.b }}securityContext: {privileged: true}{{ end }}\n`;
    const result = safely(template, { annotations: { a: 'x', b: 'y' } });
    assert.match(messageOf(result), /^annotation b .* at spec\.containers\[sidecar\]\.securityContext/);
  });

  const [a, b] = ['a', 'b'].map((name) => `(annotation .ObjectMeta "${name}" "")`) as [string, string];
  const both = (one: string, other: string): Author => ({ annotations: { a: one, b: other, c: 'x' } });
  const missing = '{{ index .Spec.Containers 3 }}';
  const failing: [what: string, template: string, author: Author, message: RegExp][] = [
    ['every pod', '{{ fail "always" }}', {}, /^template sidecar, line 1: .*error calling fail: always$/],
    ['a pod with fewer containers', `\n${missing}`, written('x'), /^template sidecar, line 2: .*out of range/],
    ['every text of an annotation', present(missing), written('"'), /^template sidecar, line 1: .*out of range/],
    [
      'every text of a label',
      `{{ with .ObjectMeta.Labels.app }}{{ index $.Spec.Containers 3 }}{{ end }}`,
      { labels: { app: 'web' } },
      /out of range/,
    ],
    ['two annotations together', `{{ if and ${a} ${b} }}${missing}{{ end }}`, both('1', '2'), /out of range/],
    ['a pod whose text is wrong too', `{{ (fromJSON ${a}).x }}\n${missing}`, both('!', ''), /out of range|line 1/],
    ['the output for every text', `spec: ${either('[]', '{a: b}')}`, written('x'), /^template sidecar: .*array/],
    ['a pod without the annotation', image(`proxy:${bare}`), written('v2'), /^template sidecar: .*invalid JSON/],
    ['a nil pointer', '{{ .Spec.SecurityContext.RunAsUser.x }}', written('x'), /^template sidecar, line 1: /],
  ];
  for (const [what, template, author, message] of failing) {
    it(`blames a template that fails for ${what}`, () => {
      const result = safely(template, author);
      assert.equal(reasonOf(result), 'InjectionFailing', messageOf(result));
      assert.match(messageOf(result), message);
    });
  }

  /** Expressions that fail for some texts, with a default that they accept. */
  const readers: Readonly<Record<string, [fallback: string, read: (text: string) => string]>> = {
    'an object': ['{}', (text) => `(fromJSON ${text}).x`],
    'a list': ['[1]', (text) => `index (fromJSON ${text}) 0`],
    'an object in base64': ['e30=', (text) => `(fromJSON (b64dec ${text})).x`],
    'a divisor': ['4', (text) => `div 8 (int ${text})`],
    'a host and a port': ['a:1', (text) => `index (splitList ":" ${text}) 1`],
    'a date': ['2001-02-03', (text) => `mustToDate "2006-01-02" ${text}`],
    'any text': ['', (text) => text],
    'one word': ['word', (text) => `if ne ${text} "word" }}${missing}{{ end`],
  };
  const formats = Object.keys(readers) as [string, ...string[]];
  const texts = ['nonsense', '0', '{"x": 1}', 'a:b', '[1]', 'e30=', '2001-01-01', '"', 'word'] as const;

  it('blames a text exactly if harmless texts in the place of all would pass', () => {
    const seen = new Set<string>();
    const arbitrary = fc.tuple(fc.constantFrom(...formats), fc.constantFrom(...formats), fc.boolean());
    const values = fc.tuple(fc.constantFrom(...texts), fc.constantFrom(...texts));
    const property = fc.property(arbitrary, values, ([first, second, isRequired], [one, other]) => {
      const line = (name: string, format: string): string => {
        const [fallback, read] = readers[format] as (typeof readers)[string];
        const text = isRequired
          ? `(index .ObjectMeta.Annotations "${name}")`
          : `(annotation .ObjectMeta "${name}" "${fallback}")`;
        return `    ${name}: "x{{ ${read(text)} }}"\n`;
      };
      const config = { templates: { sidecar: `metadata:\n  annotations:\n${line('a', first)}${line('b', second)}` } };
      const files = { config: JSON.stringify({ ...config, policy: 'enabled' }), values: '', mesh: '', settings: '' };
      const istio = loadInjector(files);
      const passes = (left: string, right: string): boolean =>
        inject(istio, { pod: podOf(both(left, right)), namespace: 'shop' }).outcome === 'injected';
      fc.pre(!passes(one, other));
      const isText = [...harmlessTexts, one].some((left) =>
        [...harmlessTexts, other].some((right) => passes(left, right)),
      );
      const result = safely(config.templates.sidecar, both(one, other));
      assert.equal(reasonOf(result), isText ? 'UnsafeAnnotation' : 'InjectionFailing', messageOf(result));
      if (!isText) return;
      const named = /^annotation ([ab]) /.exec(messageOf(result))?.[1] ?? '';
      // The named text is not one that would pass beside a harmless one.
      const fits = (text: string) =>
        harmlessTexts.some((each) => (named === 'a' ? passes(text, each) : passes(each, text)));
      assert.ok(!fits(named === 'a' ? one : other), messageOf(result));
      seen.add(named);
    });
    fc.assert(property, { numRuns: 150 });
    assert.deepEqual([...seen].sort(), ['a', 'b']);
  });

  it('blames long texts for a limit only if the pod without them keeps it', () => {
    const loop = '{{ range until 50000 }}{{ end }}';
    // Every text makes this template as expensive.
    const results = [variable(quoted), loop, present(loop)].map((template) => {
      const config = JSON.stringify({ templates: { sidecar: template }, policy: 'enabled' });
      const files = { config, values: '', mesh: '', settings: '{"annotationOverrides": {"preset": "Safe"}}' };
      const injector = loadInjector(files, { limits: { work: 200_000 } });
      const request = { pod: podOf(written('x'.repeat(50_000))), namespace: 'shop' };
      return [inject(injector, request), injectFinally(injector, request)].map(reasonOf);
    });
    assert.deepEqual(results, [
      ['TemplateLimit', 'UnsafeAnnotation'],
      ['TemplateLimit', 'TemplateLimit'],
      ['TemplateLimit', 'TemplateLimit'],
    ]);
  });

  it('does not check under the default preset Istio', () => {
    const config = JSON.stringify({ templates: { sidecar: image(bare) }, policy: 'enabled' });
    const injector = loadInjector({ config, values: '', mesh: '', settings: '' });
    assert.equal(injector.guard, undefined);
    assert.equal(inject(injector, { pod: podOf(written('evil')), namespace: 'shop' }).outcome, 'injected');
  });

  it('accepts a text, or refuses it and names the annotation', () => {
    const config = JSON.stringify({ templates: { sidecar: variable(`"${bare}"`) }, policy: 'enabled' });
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

describe('guardAuthor, for attacks that manual testing found', () => {
  const script = written('x; id > /d/pwned');
  const shells: [title: string, line: string][] = [
    ['a shell by its path', `command: ["/bin/sh"]\n    args: [-c, ${quoted}]`],
    ['combined options', `command: [sh, -ec]\n    args: [${quoted}]`],
    ['busybox', `command: [busybox, sh, -c]\n    args: [${quoted}]`],
    ['tini', `command: [tini, --, sh, -c]\n    args: [${quoted}]`],
    ['env', `command: [/usr/bin/env, bash, -c]\n    args: [${quoted}]`],
    ['no command', `args: [sh, -c, ${quoted}]`],
    ['python', `command: [python, -c]\n    args: [${quoted}]`],
    ['a text that looks like a flag', `command: [sh, -c]\n    args: [{{ printf "--level=%s" ${input} | quote }}]`],
    ['a flag that evaluates its value', `command: [node]\n    args: [{{ printf "--eval=%s" ${input} | quote }}]`],
    ['a whole flag', `args: [--level=1, ${quoted}]`],
    ['the position after a flag', `args: [--verbose, --team, ${quoted}]`],
  ];
  for (const [title, line] of shells) {
    it(`refuses a script that uses ${title}`, () => {
      assert.equal(reasonOf(safely(sidecar(line), script)), 'UnsafeAnnotation');
    });
  }

  const steered = [
    `privileged: {{ and ${input} true }}`,
    `privileged: {{ or (not ${input}) false }}`,
    `runAsUser: {{ annotation .ObjectMeta "example.com/team" "1000" }}`,
    `runAsNonRoot: {{ annotation .ObjectMeta "example.com/team" "true" }}`,
    `readOnlyRootFilesystem: {{ annotation .ObjectMeta "example.com/team" "true" }}`,
  ];
  for (const line of steered) {
    for (const text of ['', ' ', 'true', '_']) {
      it(`keeps or refuses ${line} with ${JSON.stringify(text)}`, () => {
        const [result, plain] = [written(text), {}].map((author) => {
          const one = safely(sidecar(`securityContext: {${line}}`), author);
          return one.outcome === 'injected' ? (one.pod.spec as { containers: unknown }).containers : reasonOf(one);
        });
        if (result !== 'UnsafeAnnotation') assert.deepEqual(result, plain);
      });
    }
  }

  it('refuses a text at the end of a path', () => {
    const template =
      'spec: {volumes: [{name: d, hostPath: {path: "/data/{{ annotation .ObjectMeta "example.com/team" "shared" }}"}}]}';
    assert.equal(safely(template, written('')).outcome, 'failed');
    assert.equal(safely(template, {}).outcome, 'injected');
  });

  const failing: [title: string, template: string, author: Author][] = [
    ...['A', 'AB', '_', '__', 'PRELOAD'].map((text): [string, string, Author] => [
      `part of the name of a variable: ${text}`,
      sidecar(`env: [{name: "LD_${bare}", value: x}]`),
      written(text),
    ]),
    [
      'the name of a variable whose value occurs elsewhere in the template',
      sidecar(`env: [${either(`{name: ${bare}, value: x}`, '{name: TEAM, value: LD_PRELOAD}')}]`),
      written('LD_PRELOAD'),
    ],
    [
      'an annotation key as a variable name, even if it is a word of the template',
      sidecar(`env: [{{ range $k, $v := .ObjectMeta.Annotations }}{name: {{ $k }}, value: x},{{ end }}]`),
      { annotations: { value: 'y' } },
    ],
    ['the number of labels', sidecar(`workingDir: /{{ toJSON .ObjectMeta.Labels | len }}`), { labels: { a: 'b' } }],
    ...['', '0', '8', 'x'].map((n): [string, string, Author] => [
      `the effect of a required text: ${JSON.stringify(n)}`,
      sidecar(`securityContext: {privileged: {{ ne (atoi .ObjectMeta.Labels.n) 0 }}}`),
      { labels: { n } },
    ]),
  ];
  for (const [title, template, author] of failing) {
    it(`refuses ${title}`, () => {
      assert.equal(safely(template, author).outcome, 'failed');
    });
  }

  it('refuses the use of one byte of a text', () => {
    const template = sidecar(`securityContext: {runAsUser: {{ index ${input} 0 }}}`);
    assert.equal(safely(template, written('0')).outcome, 'failed');
    assert.equal(safely(template, { annotations: {}, labels: { team: 'x' } }).outcome, 'failed');
  });
});
