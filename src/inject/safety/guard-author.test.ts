import assert from 'node:assert/strict';
import { inject } from '../inject.ts';
import type { InjectionResult } from '../injection-result.ts';
import { loadInjector } from '../injector.ts';
import { legacyFiles } from '../testdata/configurations.ts';
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
  team,
  variable,
  written,
  type Author,
} from './testdata/authors.ts';

describe('guardAuthor', () => {
  /** Prints a field of the first container. */
  const first = (field: string) => `metadata: {annotations: {first: {{ (index .Spec.Containers 0).${field} }}}}`;
  const accepted: [title: string, template: string, author: Author][] = [
    ['a text in quotes', variable(quoted), written('a: "b"\n- c')],
    ['a text that the template concatenates', variable(`{{ printf "team-%s" ${input} | quote }}`), written('{a, b}')],
    ['a text in another case', variable(`{{ ${input} | upper | quote }}`), written('a b')],
    ['a text that the template encodes', variable(`{{ ${input} | b64enc | quote }}`), written('a b')],
    ['a YAML keyword in quotes', variable(quoted), written('null')],
    ['a harmless text without quotes', variable(bare), written('shop')],
    ['a number without quotes', sidecar(`ports: [{containerPort: ${bare}}]`), written('8080')],
    ['a number with a sign', sidecar(`ports: [{containerPort: ${bare}}]`), written('+8080')],
    ...[
      ['an optional variable', `env: [${present(`{name: TEAM, value: ${quoted}}`)}]`, 'b'],
      ['optional resources', `{{ with ${input} }}resources: {requests: {cpu: {{ . | quote }}}}{{ end }}`, '1'],
      ['an optional probe', `{{ if not ${input} }}readinessProbe: {httpGet: {path: /, port: 80}}{{ end }}`, '1'],
      ['an argument', `args: [{{ ${input} | default "none" | printf "--team=%s" | quote }}]`, '"; rm -rf / #'],
      ['a word after a flag', `args: [--team, {{ ${input} | printf "%s.$(NAMESPACE)" | quote }}]`, 'shop'],
      ['numbers', `args: [-d, "15090,${bare}", -q, ${quoted}]`, '80,443'],
      ['optional flags', `args: [run${present(`, --verbose, --team=${bare}`)}]`, 'shop'],
    ].map(([title = '', line = '', text = '']): [string, string, Author] => [title, sidecar(line), written(text)]),
    ...['team', '_', 'yes'].map((name): [string, string, Author] => [
      `${name} as the name of a label`,
      // Without a name, Go would refuse the template's output.
      `metadata: {labels: { {{ ${input} | default "none" }}: x}}`,
      written(name),
    ]),
    ['a choice between two values', variable(`{{ if eq ${input} "a b" }}x{{ else }}y{{ end }}`), written('a b')],
    ['labels and annotations', `metadata: {labels: {team: ${quoted}}, annotations: {team: ${quoted}}}`, written('a b')],
    [
      'a character that occurs elsewhere',
      sidecar(`securityContext: {runAsUser: 1}\n    args: [{{ printf "--team=%q" ${input} }}]`),
      written('1'),
    ],
    ['a text that the name of the image also contains', `${sidecar('')}{{/* ${input} */}}`, written('sidecar')],
    ['a text of a variable that the image also contains', variable(quoted), written('sidecar')],
    [
      'a text of which a harmless part passes the format check',
      `{{ if not (regexMatch "^[0-9,]+$" ${input}) }}{{ fail "ports" }}{{ end }}${variable(quoted)}`,
      written('80,443'),
    ],
    ['an annotation that the template requires', required + variable(quoted), written('shop')],
    [
      'annotations that the template ranges over',
      `metadata: {annotations: {all: {{ toJSON .ObjectMeta.Annotations | quote }}}}`,
      { annotations: { 'a/b': 'x "y"', c: 'd' } },
    ],
    ['a label', `metadata: {labels: {app: {{ index .ObjectMeta.Labels "app" | quote }}}}`, { labels: { app: 'x: y' } }],
    ['names in quotes', first('Name | quote'), { spec: { containers: [{ name: 'x: y', image: 'a b' }] } }],
    ['an image', first('Image'), { spec: { containers: [{ name: 'x', image: 'web:1@sha256:0a' }] } }],
  ];
  for (const [title, template, author] of accepted) {
    it(`accepts ${title}`, () => {
      const result = safely(template, author);
      assert.equal(result.outcome, 'injected', JSON.stringify(result));
    });
  }
});

describe('guardAuthor, for an allowed annotation', () => {
  it('accepts any use of the annotation', () => {
    const template = sidecar('').replace('sidecar:1', quoted);
    for (const image of ['evil', 'evil:1 #']) {
      assert.equal(safely(template, written(image), ['example.com/*']).outcome, 'injected');
    }
  });

  it('refuses a text that adds structure', () => {
    const template = sidecar('').replace('sidecar:1', bare);
    const result = safely(template, written('evil\n    securityContext: {privileged: true}'), [team]);
    assert.equal(reasonOf(result), 'UnsafeAnnotation');
  });

  it('accepts added structure if the template parses the text', () => {
    const template = `spec: {volumes: {{ fromJson ${input} | toJson }}}`;
    const author = written('[{"name": "v", "emptyDir": {}}]');
    assert.equal(safely(template, author, [team]).outcome, 'injected');
    assert.equal(safely(template, author).outcome, 'failed');
  });
});

describe('guardAuthor, for templates in the 1.x format', () => {
  const settings = JSON.stringify({ delimiters: ['[[', ']]'], annotationOverrides: { preset: 'Safe' } });
  const run = (line: string, value: string): InjectionResult => {
    const config = legacyFiles.config.replace('rewriteAppHTTPProbe: true', line);
    const injector = loadInjector({ ...legacyFiles, config, settings });
    return inject(injector, { pod: podOf(written(value)), namespace: 'shop' });
  };

  it('refuses the same changes', () => {
    assert.equal(run('rewriteAppHTTPProbe: true', 'a: b').outcome, 'injected');
    const result = run(`rewriteAppHTTPProbe: [[ eq (index .ObjectMeta.Annotations "${team}") "yes" ]]`, 'yes');
    assert.match(messageOf(result), /rewriteAppHTTPProbe/);
  });
});
