import { exampleConfig, injectorConfig, type InjectorConfigObject } from '../../harness/injector-configs.ts';

/** Template functions that read a whole annotation. */
const functions = [
  ['float64', 'int', 'int64', 'atoi', 'toDecimal', 'add 1', 'addf 1', 'mulf 2', 'duration', 'durationRound'],
  ['base', 'dir', 'clean', 'ext', 'directory'],
  ['toYaml', 'toJson', 'toPrettyJson', 'fromJson', 'fromJson | toYaml', 'list | toJson', 'dict "a" | toJson'],
  ['quote', 'squote', 'html', 'js', 'urlquery', 'regexQuoteMeta', 'printf "%s %q %v %x %10.3s"', 'printf "%d"'],
  ['upper', 'lower', 'title', 'untitle', 'camelcase', 'kebabcase', 'snakecase', 'initials', 'swapcase', 'nospace'],
  ['trim', 'trimAll "a/ "', 'trimPrefix "a"', 'trimSuffix "a"', 'trunc 10', 'abbrev 10', 'substr 0 10'],
  ['wrap 80', 'wrapWith 80 "/"', 'indent 2', 'nindent 2', 'replace "/" "-"', 'cat "a"', 'repeat 2'],
  ['contains "b"', 'hasPrefix "b"', 'default "a"', 'empty', 'len', 'eq "a"', 'lt "a"', 'int | until | len'],
  ['split "/"', 'splitn "/" 3', 'splitList "," | len', 'splitList "/" | uniq | len', 'splitList "," | compact | len'],
  ['splitList "," | reverse | first', 'splitList "/" | sortAlpha | first', 'splitList "," | join "/"'],
  ['splitList "," | has "b"', 'regexMatch "^(a|b)+$"', 'regexFind "[0-9]+x"', 'regexReplaceAll "a+" "b"'],
  ['b64enc', 'b64dec', 'b32enc', 'b32dec', 'sha256sum', 'adler32sum'],
  ['excludeInboundPort 80', 'appendMultusNetwork "istio-cni"'],
]
  .flat()
  .map((call) => `$text | ${call}`);

/** A template that outputs only the lengths of results, so that only the functions cost time. */
const manyFunctions = `
metadata:
  annotations:
    e2e.sidecar-injector.io/annotations: "{{ len .ObjectMeta.Annotations }}"
spec:
  {{- $text := index .ObjectMeta.Annotations "example.com/note" | default "" }}
  containers:
  - name: functions
    image: example.com/functions:1
    env:
    - name: RESULTS
      value: "{{ range $each := list ${functions.map((call) => `(${call})`).join(' ')} }}{{ printf "%v" $each | len }} {{ end }}"
    - name: MERGED
      value: {{ merge (dict "a" "b") (.ObjectMeta.Annotations | toJson | fromJson) | toJson | len | quote }}
    - name: COMPARED
      value: "{{ range $name, $value := .ObjectMeta.Annotations }}{{ if and (contains "x" $name) (hasPrefix "y" $value) }}x{{ end }}{{ end }}"
    - name: LABELS
      value: "{{ range $name, $value := .ObjectMeta.Labels }}{{ if eq $name $value }}x{{ end }}{{ end }}"
    - name: NOTE
      value: {{ $text | trunc 20 | quote }}
`;

/** A template that ranges over all text from the pod's author, for preset Safe. */
const showsAll = `
spec:
  containers:
  - name: shows
    image: example.com/shows:1
    env:
    - name: ANNOTATIONS
      value: "{{ range $name, $value := .ObjectMeta.Annotations }}{{ $name | len }}={{ $value | len }} {{ end }}"
    - name: NOTE
      value: {{ index .ObjectMeta.Annotations "example.com/note" | default "none" | trim | upper | quote }}
    - name: NUMBER
      value: {{ index .ObjectMeta.Annotations "example.com/note" | default "1" | float64 | quote }}
    - name: LABELS
      value: {{ toJson .ObjectMeta.Labels | quote }}
`;

function ownConfig(name: string, template: string, preset: 'Safe' | 'Istio'): InjectorConfigObject {
  return injectorConfig(name, { injection: { templates: { sidecar: template }, annotationOverrides: { preset } } });
}

/** Returns a small sidecar, and templates that process much text from pod authors. */
export function stallConfigs(): readonly InjectorConfigObject[] {
  const hello = exampleConfig('hello.yaml');
  return [
    { ...hello, metadata: { name: 'stall-hello' } },
    ownConfig('stall-functions', manyFunctions, 'Istio'),
    ownConfig('stall-shows-all', showsAll, 'Safe'),
  ];
}
