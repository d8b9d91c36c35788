import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inject } from '../inject.ts';
import type { InjectionResult } from '../injection-result.ts';
import { loadInjector } from '../injector.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { legacyFiles, proxyFiles } from '../testdata/configurations.ts';

interface Author {
  readonly annotations?: JsonObject;
  readonly labels?: JsonObject;
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
}

const team = 'example.com/team';
const a = `(index .ObjectMeta.Annotations "${team}")`;

function podOf({ annotations = {}, labels = {}, metadata = {}, spec = {} }: Author): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', annotations, labels, ...metadata },
    spec: { containers: [{ name: 'web', image: 'web:1' }], ...spec },
  };
}

function safely(template: string, author: Author, allow: readonly string[] = []): InjectionResult {
  const injector = loadInjector({
    config: JSON.stringify({ templates: { sidecar: template, other: 'spec: {}' }, policy: 'enabled' }),
    values: '',
    mesh: '',
    settings: JSON.stringify({ annotationOverrides: { preset: 'Safe', allow } }),
  });
  return inject(injector, { pod: podOf(author), namespace: 'shop' });
}

/** A sidecar with a line of its own. */
const sidecar = (line: string): string =>
  `spec:\n  containers:\n  - name: sidecar\n    image: sidecar:1\n    ${line}\n`;
const variable = (value: string): string => sidecar(`env: [{name: TEAM, value: ${value}}]`);
const block = `spec:\n  containers:\n  - name: sidecar\n    image: sidecar:1\n    env:\n    - name: TEAM\n      value: {{ ${a} }}\n`;
const written = (value: string): Author => ({ annotations: { [team]: value } });

describe('an author may change values', () => {
  const accepted: [title: string, template: string, author: Author][] = [
    ['a text in quotes', variable(`{{ ${a} | quote }}`), written('a: "b"\n- c')],
    ['a text that the template joins', variable(`{{ printf "team-%s" ${a} | quote }}`), written('{a, b}')],
    ['a text in another case', variable(`{{ ${a} | upper | quote }}`), written('a b')],
    ['a text that the template encodes', variable(`{{ ${a} | b64enc | quote }}`), written('a b')],
    ['a word that YAML knows, in quotes', variable(`{{ ${a} | quote }}`), written('null')],
    ['a harmless text without quotes', variable(`{{ ${a} }}`), written('shop')],
    ['a number without quotes', sidecar(`ports: [{containerPort: {{ ${a} }}}]`), written('8080')],
    ['a number with a sign', sidecar(`ports: [{containerPort: {{ ${a} }}}]`), written('+8080')],
    [
      'a variable that comes and goes',
      sidecar(`env: [{{ if ${a} }}{name: TEAM, value: {{ ${a} | quote }}}{{ end }}]`),
      written('b'),
    ],
    [
      'resources that come and go',
      sidecar(`{{ with ${a} }}resources: {requests: {cpu: {{ . | quote }}}}{{ end }}`),
      written('1'),
    ],
    [
      'a probe that comes and goes',
      sidecar(`{{ if not ${a} }}readinessProbe: {httpGet: {path: /, port: 80}}{{ end }}`),
      written('1'),
    ],
    ['arguments', sidecar(`args: [--team, {{ ${a} | default "none" | quote }}]`), written('"; rm -rf / #')],
    [
      'labels and annotations',
      `metadata: {labels: {team: {{ ${a} | quote }}}, annotations: {team: {{ ${a} | quote }}}}`,
      written('a b'),
    ],
    [
      'a letter that stands everywhere',
      sidecar(`securityContext: {runAsUser: 1}\n    args: [{{ printf "%s=%q" "t" ${a} }}]`),
      written('1'),
    ],
    ['a text that stands in an image for other reasons', `${sidecar('')}{{/* ${a} */}}`, written('sidecar')],
    ['such a text where it is read', variable(`{{ ${a} | quote }}`), written('sidecar')],
    [
      'a text that the template checks, of which a piece passes',
      `{{ if not (regexMatch "^[0-9,]+$" ${a}) }}{{ fail "ports" }}{{ end }}${variable(`{{ ${a} | quote }}`)}`,
      written('80,443'),
    ],
    [
      'an annotation that the template insists on',
      `{{ if not ${a} }}{{ fail "no team" }}{{ end }}${variable(`{{ ${a} | quote }}`)}`,
      written('shop'),
    ],
    [
      'what the template goes over',
      `metadata: {annotations: {all: {{ toJSON .ObjectMeta.Annotations | quote }}}}`,
      { annotations: { 'a/b': 'x "y"', c: 'd' } },
    ],
    ['a label', `metadata: {labels: {app: {{ index .ObjectMeta.Labels "app" | quote }}}}`, { labels: { app: 'x: y' } }],
    [
      'names in quotes',
      `metadata: {annotations: {first: {{ (index .Spec.Containers 0).Name | quote }}}}`,
      { spec: { containers: [{ name: 'x: y', image: 'a b' }] } },
    ],
    [
      'an image',
      `metadata: {annotations: {first: {{ (index .Spec.Containers 0).Image }}}}`,
      { spec: { containers: [{ name: 'x', image: 'web:1@sha256:0a' }] } },
    ],
  ];
  for (const [title, template, author] of accepted) {
    it(title, () => {
      const result = safely(template, author);
      assert.equal(result.outcome, 'injected', JSON.stringify(result));
    });
  }
});

describe('an author may not change more than values', () => {
  const noImage = { annotations: { [team]: 'evil/image' } };
  const refused: [title: string, template: string, author: Author, message: RegExp][] = [
    [
      'a container',
      `spec:\n  containers:\n  - name: sidecar\n    image: sidecar:1\n    args:\n    - {{ ${a} }}\n`,
      written('x\n  - name: evil\n    image: evil:1'),
      /annotation example\.com\/team \(value "x\\n {2}- name: evil\\n.*would change more than a value at spec\.containers/,
    ],
    [
      'a field',
      variable(`{{ ${a} }}`),
      written('x, valueFrom: {secretKeyRef: {name: s, key: k}}'),
      /spec\.containers\[sidecar\]\.env\[TEAM\]/,
    ],
    ['an argument', sidecar(`args: [{{ ${a} }}]`), written('x, z'), /spec\.containers\[sidecar\]\.args/],
    ['a list', variable(`{{ ${a} }}`), written('[x]'), /does not fit|more than a value/],
    ['nothing', sidecar(`workingDir: {{ ${a} }}`), written('~'), /workingDir/],
    ['what YAML makes nothing of', block, written('|-'), /env\[TEAM\]\.value/],
    [
      'an image',
      sidecar(`workingDir: x`).replace('sidecar:1', `{{ ${a} }}`),
      noImage,
      /would change what runs.*spec\.containers\[sidecar\]\.image/,
    ],
    [
      'a part of an image',
      sidecar(`workingDir: x`).replace('sidecar:1', `hub/{{ ${a} | upper }}:1`),
      noImage,
      /\.image/,
    ],
    ...[
      [`proxy:{{ ${a} }}`, 'v2'],
      [`{{ trunc -9 ${a} }}`, 'benign.evil/team'],
      [`{{ trimAll "x" ${a} }}`, 'xxxxevil'],
      [`{{ printf "%.3s" ${a} }}`, 'evilness'],
      [`{{ ${a} | printf "%x" }}`, 'evil'],
    ].map(([image = '', value = '']): [string, string, Author, RegExp] => [
      `an image made by ${image.replaceAll(a, '.')}`,
      sidecar('').replace('sidecar:1', image),
      written(value),
      /would change what runs.*\.image/,
    ]),
    [
      'an image that the template insists on',
      `{{ if not ${a} }}{{ fail "no image" }}{{ end }}${sidecar('').replace('sidecar:1', `{{ ${a} }}`)}`,
      noImage,
      /\.image/,
    ],
    [
      'a privilege',
      sidecar(`securityContext: {privileged: {{ eq ${a} "yes" }}}`),
      written('yes'),
      /securityContext\.privileged/,
    ],
    [
      'a privilege by presence',
      sidecar(`{{ if ${a} }}securityContext: {privileged: true}{{ end }}`),
      written('no'),
      /securityContext/,
    ],
    [
      'a volume by presence',
      `spec: {{ if ${a} }}{volumes: [{name: v, emptyDir: {}}]}{{ else }}{}{{ end }}`,
      written('no'),
      /spec\.volumes\[v\]/,
    ],
    [
      'a list for something else',
      `spec: {{ if ${a} }}[]{{ else }}{a: b}{{ end }}`,
      written('x'),
      /does not fit|at spec/,
    ],
    [
      'a text for a map',
      sidecar(`resources: {{ if ${a} }}{requests: {cpu: 1}}{{ else }}none{{ end }}`),
      written('x'),
      /resources/,
    ],
    ['the name of a variable', sidecar(`env: [{name: {{ ${a} }}, value: x}]`), written('LD_PRELOAD'), /env/],
    [
      'a name of a variable that comes and goes',
      sidecar(`env: [{{ if ${a} }}{name: {{ ${a} }}, value: x}{{ end }}]`),
      written('LD_PRELOAD'),
      /env/,
    ],
    ['the name of a label', `metadata: {labels: { {{ ${a} }}: x}}`, written('evil'), /metadata\.labels/],
    ['a command', sidecar(`command: [run, {{ ${a} | quote }}]`), written('evil'), /command/],
    [
      'a script',
      sidecar(`command: [/bin/sh, -c]\n    args: [{{ printf "echo %s" ${a} | quote }}]`),
      written('evil'),
      /args of a shell/,
    ],
    [
      'a leaf that does not hold the text',
      variable(`{{ if eq ${a} "a b" }}x{{ else }}y{{ end }}`),
      written('a b'),
      /more than a value/,
    ],
    [
      'another host for a probe',
      sidecar(`livenessProbe: {httpGet: {port: 80, host: {{ ${a} | quote }}}}`),
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
      variable(`"{{ ${a} }}"`),
      written('"'),
      /annotation example\.com\/team .*does not fit where the template puts it/,
    ],
    [
      'what is of the wrong type',
      sidecar(`ports: [{containerPort: {{ ${a} }}}]`),
      written('http'),
      /annotation example\.com\/team .*does not fit/,
    ],
    ['a very long text', variable(`"{{ ${a} }}"`), written(`"${'x'.repeat(5000)}`), /value "\\"x{63}…"/],
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
      templates: { sidecar: sidecar('').replace('sidecar:1', `{{ ${a} }}`) },
      policy: 'enabled',
    });
    const injector = loadInjector({ config, values: '', mesh: '', settings: '' });
    assert.equal(injector.guard, undefined);
    assert.equal(inject(injector, { pod: podOf(written('evil')), namespace: 'shop' }).outcome, 'injected');
  });

  it('whatever the text', () => {
    const injector = loadInjector({
      config: JSON.stringify({ templates: { sidecar: variable(`"{{ ${a} }}"`) }, policy: 'enabled' }),
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

describe('an administrator may allow it', () => {
  it('by name, and then it may stand anywhere', () => {
    const template = sidecar('').replace('sidecar:1', `{{ ${a} | quote }}`);
    for (const image of ['evil', 'evil:1 #']) {
      assert.equal(safely(template, written(image), ['example.com/*']).outcome, 'injected');
    }
  });

  it('but its text still adds nothing', () => {
    const template = sidecar('').replace('sidecar:1', `{{ ${a} }}`);
    const result = safely(template, written('evil\n    securityContext: {privileged: true}'), [team]);
    assert.equal(result.outcome === 'failed' && result.reason, 'UnsafeAnnotation');
  });

  it('unless the template takes it apart', () => {
    const template = `spec: {volumes: {{ fromJson ${a} | toJson }}}`;
    const author = written('[{"name": "v", "emptyDir": {}}]');
    assert.equal(safely(template, author, [team]).outcome, 'injected');
    assert.equal(safely(template, author).outcome, 'failed');
  });
});

describe('structural annotations of Istio’s family', () => {
  const image = 'sidecar.istio.io/proxyImage';
  const template = `${sidecar('').replace('sidecar:1', `{{ annotation .ObjectMeta "${image}" "proxy:1" | quote }}`)}metadata: {annotations: {${image}: {{ annotation .ObjectMeta "${image}" "proxy:1" | quote }}}}`;

  it('are refused by name, with the field that allows them', () => {
    const result = safely(template, { annotations: { [image]: 'evil:1' } });
    assert.deepEqual(result, {
      outcome: 'failed',
      reason: 'AnnotationNotAllowed',
      message:
        'annotation sidecar.istio.io/proxyImage (value "evil:1") is structural, it chooses the image of the proxy, and may not be used here: remove it from the pod, or let an administrator add it to annotationOverrides.allow of the injector (spec.injection of its InjectorConfig, or --annotation-overrides)',
    });
  });

  it('may say what the template says anyway: an earlier injection left it', () => {
    assert.equal(safely(template, { annotations: { [image]: 'proxy:1' } }).outcome, 'injected');
  });

  it('may be used where they are allowed', () => {
    assert.equal(safely(template, { annotations: { [image]: 'mine:1' } }, [image]).outcome, 'injected');
  });

  it('mean nothing to a template that does not read them', () => {
    assert.equal(safely(sidecar(''), { annotations: { [image]: 'evil:1' } }).outcome, 'injected');
  });
});

describe('what annotations ask of the engine', () => {
  const files = (allow: readonly string[] = []) => ({
    ...proxyFiles,
    settings: JSON.stringify({ revision: 'r1', annotationOverrides: { preset: 'Safe', allow } }),
  });
  const run = (author: Author, allow: readonly string[] = []): InjectionResult =>
    inject(loadInjector(files(allow)), { pod: podOf(author), namespace: 'shop' });
  const reason = (result: InjectionResult): string => (result.outcome === 'failed' ? result.reason : result.outcome);

  it('other templates', () => {
    const choice = { annotations: { 'inject.istio.io/templates': 'log' } };
    assert.equal(reason(run(choice)), 'AnnotationNotAllowed');
    assert.equal(reason(run({ annotations: { 'inject.istio.io/templates': 'sidecar' } })), 'injected');
    assert.equal(reason(run(choice, ['inject.istio.io/templates'])), 'injected');
  });

  it('the proxy’s configuration', () => {
    const choice = { annotations: { 'proxy.istio.io/config': 'concurrency: 1' } };
    assert.equal(reason(run(choice)), 'AnnotationNotAllowed');
    assert.equal(reason(run(choice, ['proxy.istio.io/config'])), 'injected');
  });

  const saved = (container: JsonObject): Author => ({
    annotations: { 'proxy.istio.io/overrides': JSON.stringify({ containers: [{ name: 'web', ...container }] }) },
  });
  const overrides: [title: string, author: Author, outcome: string][] = [
    ['what the pod says too', saved({ image: 'web:1' }), 'injected'],
    ['another image', saved({ image: 'evil:1' }), 'AnnotationNotAllowed'],
    ['a privilege', saved({ securityContext: { privileged: true } }), 'AnnotationNotAllowed'],
    ['a variable', saved({ env: [{ name: 'LD_PRELOAD', value: 'x' }] }), 'AnnotationNotAllowed'],
    ['a container that is not there', saved({ name: 'evil', image: 'evil:1' }), 'AnnotationNotAllowed'],
  ];
  for (const [title, author, outcome] of overrides) {
    it(`saved overrides with ${title}`, () => {
      assert.equal(reason(run(author)), outcome);
      assert.equal(reason(run(author, ['proxy.istio.io/overrides'])), 'injected');
    });
  }

  it('saved overrides with the variables of the pod', () => {
    const env = [{ name: 'A', value: 'x' }];
    const spec = { containers: [{ name: 'web', image: 'web:1', env }] };
    assert.equal(reason(run({ ...saved({ env }), spec })), 'injected');
  });

  it('an injected pod again', () => {
    const injector = loadInjector(files());
    const own = {
      containers: [
        { name: 'web', image: 'web:1' },
        { name: 'istio-proxy', image: 'auto', securityContext: { runAsUser: 5 } },
      ],
    };
    const first = inject(injector, { pod: podOf({ spec: own }), namespace: 'shop' });
    if (first.outcome !== 'injected') throw new Error(first.message);
    assert.equal(reason(inject(injector, { pod: first.pod, namespace: 'shop' })), 'injected');
  });
});

describe('templates of the 1.x kind', () => {
  const settings = JSON.stringify({ delimiters: ['[[', ']]'], annotationOverrides: { preset: 'Safe' } });
  const run = (line: string, value: string): InjectionResult =>
    inject(
      loadInjector({ ...legacyFiles, config: legacyFiles.config.replace('rewriteAppHTTPProbe: true', line), settings }),
      {
        pod: podOf(written(value)),
        namespace: 'shop',
      },
    );

  it('are held to the same', () => {
    assert.equal(run('rewriteAppHTTPProbe: true', 'a: b').outcome, 'injected');
    const result = run(`rewriteAppHTTPProbe: [[ eq (index .ObjectMeta.Annotations "${team}") "yes" ]]`, 'yes');
    assert.match(result.outcome === 'failed' ? result.message : '', /rewriteAppHTTPProbe/);
  });
});
