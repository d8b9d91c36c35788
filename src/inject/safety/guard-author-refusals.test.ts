import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inject } from '../inject.ts';
import { loadInjector } from '../injector.ts';
import { given, podOf, safely, sidecar, team, variable, written, type Author } from './testdata/authors.ts';

const block = `spec:\n  containers:\n  - name: sidecar\n    image: sidecar:1\n    env:\n    - name: TEAM\n      value: {{ ${given} }}\n`;

describe('an author may not change more than values', () => {
  const noImage = { annotations: { [team]: 'evil/image' } };
  const refused: [title: string, template: string, author: Author, message: RegExp][] = [
    [
      'a container',
      `spec:\n  containers:\n  - name: sidecar\n    image: sidecar:1\n    args:\n    - {{ ${given} }}\n`,
      written('x\n  - name: evil\n    image: evil:1'),
      /annotation example\.com\/team \(value "x\\n {2}- name: evil\\n.*would change more than a value at spec\.containers/,
    ],
    [
      'a field',
      variable(`{{ ${given} }}`),
      written('x, valueFrom: {secretKeyRef: {name: s, key: k}}'),
      /spec\.containers\[sidecar\]\.env\[TEAM\]/,
    ],
    ['an argument', sidecar(`args: [{{ ${given} }}]`), written('x, z'), /spec\.containers\[sidecar\]\.args/],
    ['a list', variable(`{{ ${given} }}`), written('[x]'), /does not fit|more than a value/],
    ['nothing', sidecar(`workingDir: {{ ${given} }}`), written('~'), /workingDir/],
    ['what YAML makes nothing of', block, written('|-'), /env\[TEAM\]\.value/],
    [
      'an image',
      sidecar(`workingDir: x`).replace('sidecar:1', `{{ ${given} }}`),
      noImage,
      /would change what runs.*spec\.containers\[sidecar\]\.image/,
    ],
    [
      'a part of an image',
      sidecar(`workingDir: x`).replace('sidecar:1', `hub/{{ ${given} | upper }}:1`),
      noImage,
      /\.image/,
    ],
    ...[
      [`proxy:{{ ${given} }}`, 'v2'],
      [`{{ trunc -9 ${given} }}`, 'benign.evil/team'],
      [`{{ trimAll "x" ${given} }}`, 'xxxxevil'],
      [`{{ printf "%.3s" ${given} }}`, 'evilness'],
      [`{{ ${given} | printf "%x" }}`, 'evil'],
    ].map(([image = '', value = '']): [string, string, Author, RegExp] => [
      `an image made by ${image.replaceAll(given, '.')}`,
      sidecar('').replace('sidecar:1', image),
      written(value),
      /would change what runs.*(?:\.image|the whole)/,
    ]),
    [
      'an image that the template insists on',
      `{{ if not ${given} }}{{ fail "no image" }}{{ end }}${sidecar('').replace('sidecar:1', `{{ ${given} }}`)}`,
      noImage,
      /\.image/,
    ],
    [
      'a privilege',
      sidecar(`securityContext: {privileged: {{ eq ${given} "yes" }}}`),
      written('yes'),
      /securityContext\.privileged/,
    ],
    [
      'a privilege by presence',
      sidecar(`{{ if ${given} }}securityContext: {privileged: true}{{ end }}`),
      written('no'),
      /securityContext/,
    ],
    [
      'a volume by presence',
      `spec: {{ if ${given} }}{volumes: [{name: v, emptyDir: {}}]}{{ else }}{}{{ end }}`,
      written('no'),
      /spec\.volumes\[v\]/,
    ],
    [
      'a list for something else',
      `spec: {{ if ${given} }}[]{{ else }}{a: b}{{ end }}`,
      written('x'),
      /does not fit|at spec/,
    ],
    [
      'a text for a map',
      sidecar(`resources: {{ if ${given} }}{requests: {cpu: 1}}{{ else }}none{{ end }}`),
      written('x'),
      /resources/,
    ],
    ['the name of a variable', sidecar(`env: [{name: {{ ${given} }}, value: x}]`), written('LD_PRELOAD'), /env/],
    [
      'a name of a variable that comes and goes',
      sidecar(`env: [{{ if ${given} }}{name: {{ ${given} }}, value: x}{{ end }}]`),
      written('LD_PRELOAD'),
      /env/,
    ],
    ['a command', sidecar(`command: [run, {{ ${given} | quote }}]`), written('evil'), /command/],
    [
      'a script',
      sidecar(`command: [/bin/sh, -c]\n    args: [{{ printf "echo %s" ${given} | quote }}]`),
      written('evil'),
      /spec\.containers\[sidecar\]\.args/,
    ],
    [
      'another host for a probe',
      sidecar(`livenessProbe: {httpGet: {port: 80, host: {{ ${given} | quote }}}}`),
      written('10.0.0.1'),
      /host/,
    ],
    [
      'a label that breaks out',
      `metadata:\n  labels:\n    app: {{ index .ObjectMeta.Labels "app" }}\n`,
      { labels: { app: 'x\n    evil: z' } },
      /label app /,
    ],
    [
      'a name that breaks out',
      `metadata:\n  labels:\n    app: {{ .DeploymentMeta.Name }}\n`,
      { metadata: { name: 'x\n    evil: z' } },
      /the pod's metadata\.ownerReferences\[\]\.name .*quotes/,
    ],
    [
      'a field of the spec that breaks out',
      `metadata:\n  labels:\n    app: {{ (index .Spec.Containers 0).Name }}\n`,
      { spec: { containers: [{ name: 'x\n    evil: z' }] } },
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
    [
      'what makes YAML unreadable',
      variable(`"{{ ${given} }}"`),
      written('"'),
      /annotation example\.com\/team .*does not fit where the template puts it/,
    ],
    [
      'what is of the wrong type',
      sidecar(`ports: [{containerPort: {{ ${given} }}}]`),
      written('http'),
      /annotation example\.com\/team .*does not fit/,
    ],
    ['a very long text', variable(`"{{ ${given} }}"`), written(`"${'x'.repeat(5000)}`), /value "\\"x{63}…"/],
  ];
  for (const [title, template, author, message] of refused) {
    it(title, () => {
      const result = safely(template, author);
      assert.equal(result.outcome, 'failed', JSON.stringify(result));
      assert.equal(result.reason, 'UnsafeAnnotation', JSON.stringify(result));
      assert.match(result.message, message);
    });
  }

  it('names the one of several that makes the difference', () => {
    const template = `metadata:\n  labels:\n    a: {{ .ObjectMeta.Annotations.a | quote }}\n    b: {{ .ObjectMeta.Annotations.b }}\n    c: {{ .ObjectMeta.Annotations.c | quote }}\n`;
    const result = safely(template, { annotations: { a: 'x y', b: 'x\n    evil: z', c: 'x: y' } });
    assert.match(result.outcome === 'failed' ? result.message : '', /^annotation b /);
  });

  it('names one of several that make it together', () => {
    const template = `${sidecar('')}    {{ if or .ObjectMeta.Annotations.a .ObjectMeta.Annotations.b }}securityContext: {privileged: true}{{ end }}\n`;
    const result = safely(template, { annotations: { a: 'x', b: 'y' } });
    assert.match(
      result.outcome === 'failed' ? result.message : '',
      /^annotation a .* at spec\.containers\[sidecar\]\.securityContext/,
    );
  });

  it('leaves a failure that is nobody’s text as it is', () => {
    const result = safely('{{ fail "always" }}', written('x'));
    assert.equal(result.outcome === 'failed' && result.reason, 'TemplateFailed');
  });

  it('does what Istio does when nothing is said', () => {
    const config = JSON.stringify({
      templates: { sidecar: sidecar('').replace('sidecar:1', `{{ ${given} }}`) },
      policy: 'enabled',
    });
    const injector = loadInjector({ config, values: '', mesh: '', settings: '' });
    assert.equal(injector.guard, undefined);
    assert.equal(inject(injector, { pod: podOf(written('evil')), namespace: 'shop' }).outcome, 'injected');
  });

  it('whatever the text', () => {
    const injector = loadInjector({
      config: JSON.stringify({ templates: { sidecar: variable(`"{{ ${given} }}"`) }, policy: 'enabled' }),
      values: '',
      mesh: '',
      settings: '{"annotationOverrides": {"preset": "Safe"}}',
    });
    const text = fc.array(
      fc.constantFrom('"', "'", '\n', ' ', ',', '}', 'a', ': ', '- ', '#', '\\', '{', 'name: evil'),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(text, (parts) => {
        const result = inject(injector, { pod: podOf(written(parts.join(''))), namespace: 'shop' });
        if (result.outcome !== 'injected') {
          assert.match(result.message, /^annotation example\.com\/team /);
          return;
        }
        const { containers } = (result.pod as { spec: { containers: { name: string; env?: unknown[] }[] } }).spec;
        assert.deepEqual(
          containers.map(({ name, env }) => [name, env?.length]),
          [
            ['sidecar', 1],
            ['web', undefined],
          ],
        );
      }),
    );
  });
});

describe('an author is refused what was found by trying it as an attacker', () => {
  const script = written('x; id > /d/pwned');
  const shells: [title: string, line: string][] = [
    ['a shell by its path', `command: ["/bin/sh"]\n    args: [-c, {{ ${given} | quote }}]`],
    ['options in a cluster', `command: [sh, -ec]\n    args: [{{ ${given} | quote }}]`],
    ['busybox', `command: [busybox, sh, -c]\n    args: [{{ ${given} | quote }}]`],
    ['tini', `command: [tini, --, sh, -c]\n    args: [{{ ${given} | quote }}]`],
    ['env', `command: [/usr/bin/env, bash, -c]\n    args: [{{ ${given} | quote }}]`],
    ['no command', `args: [sh, -c, {{ ${given} | quote }}]`],
    ['python', `command: [python, -c]\n    args: [{{ ${given} | quote }}]`],
    ['a script that looks like a flag', `command: [sh, -c]\n    args: [{{ printf "--level=%s" ${given} | quote }}]`],
    ['a flag that evaluates', `command: [node]\n    args: [{{ printf "--eval=%s" ${given} | quote }}]`],
    ['a whole flag', `args: [--level=1, {{ ${given} | quote }}]`],
  ];
  for (const [title, line] of shells) {
    it(`a script: ${title}`, () => {
      const result = safely(sidecar(line), script);
      assert.equal(result.outcome === 'failed' ? result.reason : result.outcome, 'UnsafeAnnotation');
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
        const result = safely(sidecar(`securityContext: {${line}}`), written(text));
        const plain = safely(sidecar(`securityContext: {${line}}`), {});
        const same = (one: typeof result): unknown =>
          one.outcome === 'injected' ? (one.pod.spec as { containers: unknown }).containers : one.outcome;
        if (result.outcome === 'injected') assert.deepEqual(same(result), same(plain));
        else assert.equal('reason' in result && result.reason, 'UnsafeAnnotation');
      });
    }
  }

  it('the end of a path', () => {
    const template =
      'spec: {volumes: [{name: d, hostPath: {path: "/data/{{ annotation .ObjectMeta "example.com/team" "shared" }}"}}]}';
    assert.equal(safely(template, written('')).outcome, 'failed');
    assert.equal(safely(template, {}).outcome, 'injected');
  });

  for (const text of ['A', 'AB', '_', '__', 'PRELOAD']) {
    it(`a part of the name of a variable: ${text}`, () => {
      const template = sidecar(`env: [{name: "LD_{{ ${given} }}", value: x}]`);
      assert.equal(safely(template, written(text)).outcome, 'failed');
    });
  }

  it('the name of a variable that the template has elsewhere', () => {
    const template = sidecar(
      `env: [{{ if ${given} }}{name: {{ ${given} }}, value: x}{{ else }}{name: TEAM, value: LD_PRELOAD}{{ end }}]`,
    );
    assert.equal(safely(template, written('LD_PRELOAD')).outcome, 'failed');
  });

  it('the name of an annotation as that of a variable, though it be a word of the template', () => {
    const template = sidecar(
      `env: [{{ range $k, $v := .ObjectMeta.Annotations }}{name: {{ $k }}, value: x},{{ end }}]`,
    );
    assert.equal(safely(template, { annotations: { value: 'y' } }).outcome, 'failed');
  });

  it('that there is a map of labels', () => {
    const template = sidecar(`workingDir: /{{ toJSON .ObjectMeta.Labels | len }}`);
    assert.equal(safely(template, { labels: { a: 'b' } }).outcome, 'failed');
  });

  it('a byte of a text', () => {
    const template = sidecar(`securityContext: {runAsUser: {{ index ${given} 0 }}}`);
    assert.equal(safely(template, written('0')).outcome, 'failed');
    assert.equal(safely(template, { annotations: {}, labels: { team: 'x' } }).outcome, 'failed');
  });

  it('what a template that insists on a text makes of it', () => {
    const template = sidecar(`securityContext: {privileged: {{ ne (atoi .ObjectMeta.Labels.n) 0 }}}`);
    assert.deepEqual(
      ['', '0', '8', 'x'].map((n) => safely(template, { labels: { n } }).outcome),
      ['failed', 'failed', 'failed', 'failed'],
    );
  });
});
