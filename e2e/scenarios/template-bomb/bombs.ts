export interface Bomb {
  readonly name: string;
  readonly injection: Record<string, unknown>;
  /** The keys of the ConfigMap that `injection` refers to, with their texts. */
  readonly texts?: Record<string, string>;
}

const sidecar = (text: string): Record<string, unknown> => ({ templates: { sidecar: text } });
const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join('');
const rendered = 'spec: {containers: [{name: bomb, image: "example.com/bomb:1"}]}';
const doubled = (count: number): string =>
  `{{ $d := dict "a" "x" }}${times(count, () => '{{ $d = dict "a" $d "b" $d }}')}`;
const grown = (step: string, count: number): string =>
  `{{ $x := list 1 2 3 4 }}${times(count, () => `{{ $x = ${step} }}`)}`;
const longText = (count: number): string =>
  `{{ $s := "0123456789abcdef" }}${times(count, () => '{{ $s = print $s $s }}')}`;
const loops = (count: number, body: string): string => `{{ range until ${count} }}${body}{{ end }}`;
/** Returns YAML in which each anchor refers to the previous anchor twice. */
const aliases = (count: number): string =>
  `a0: &a0 [x, x]\n${times(count, (index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]\n`)}`;

const templates: Record<string, string> = {
  'deep-copy': `${doubled(28)}{{ $y := deepCopy $d }}${rendered}`,
  'to-json': `${doubled(28)}{{ toJson $d }}`,
  'to-yaml': `${doubled(26)}{{ toYaml $d }}`,
  'print-map': `${doubled(28)}{{ printf "%v" $d }}`,
  'merge-maps': `${doubled(28)}{{ $y := mergeOverwrite (dict) (deepCopy $d) }}${rendered}`,
  'equal-maps': `${doubled(28)}{{ if eq (toJson $d) (toJson $d) }}{{ end }}${rendered}`,
  concat: `${grown('concat $x $x', 30)}{{ len $x }}`,
  'concat-thrice': `${grown('concat $x $x $x', 20)}{{ len $x }}`,
  append: `{{ $x := list }}${loops(900_000, '{{ $x = append $x . }}')}${rendered}`,
  prepend: `{{ $x := list }}${loops(900_000, '{{ $x = prepend $x . }}')}${rendered}`,
  'print-doubled': `${longText(40)}{{ len $s }}`,
  'replace-grows': `{{ $s := "a" }}${times(30, () => '{{ $s = replace "a" "aaaa" $s }}')}{{ len $s }}`,
  width: times(400, () => '{{ $x := printf "%100000000d" 1 }}{{ len $x }}'),
  repeat: times(400, () => '{{ $x := repeat 100000000 "x" }}{{ len $x }}'),
  indent: `${longText(20)}{{ indent 1000000 (replace "0" "\\n" $s) }}`,
  until: times(400, () => '{{ $x := until 100000000 }}{{ len $x }}'),
  'until-step': '{{ $x := untilStep 0 2000000000 1 }}{{ len $x }}',
  seq: '{{ $x := seq 1 200000000 }}{{ len $x }}',
  'nested-ranges': loops(1000, loops(1000, loops(1000, '{{ $x := . }}'))),
  'quiet-ranges': loops(3000, loops(3000, 'x')),
  'define-recursion': `{{ define "r" }}{{ template "r" . }}{{ template "r" . }}{{ end }}{{ template "r" . }}`,
  'define-fan-out': `${times(40, (index) => `{{ define "f${index}" }}${index === 0 ? 'x' : `{{ template "f${index - 1}" . }}`.repeat(2)}{{ end }}`)}{{ template "f39" . }}`,
  'include-fan-out': `${times(40, (index) => `{{ define "f${index}" }}${index === 0 ? 'x' : `{{ template "f${index - 1}" . }}`.repeat(3)}{{ end }}`)}{{ template "f39" . }}`,
  parentheses: `{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`,
  'deep-blocks': `${'{{ if true }}'.repeat(20_000)}x${'{{ end }}'.repeat(20_000)}`,
  'else-if': `{{ if false }}${'{{ else if false }}x'.repeat(25_000)}{{ end }}`,
  'set-itself': '{{ $d := dict }}{{ $x := set $d "a" $d }}{{ toJson $d }}',
  'output-of-16-mib': loops(900_000, '0123456789abcdef0123456789abcdef'),
};

const outputs: Record<string, string> = {
  'rendered-aliases': `metadata:\n  annotations:\n    x: &x y\n${aliases(30)}`,
  'rendered-depth': `spec: {{ repeat 400000 "[" }}`,
  'rendered-keys': `metadata:\n  annotations: { ${loops(300_000, 'k{{ . }}: v, ')} }`,
  'equal-containers': `spec: {containers: [${loops(100_000, '{name: c{{ . }}, image: x}, ')}]}`,
};

const texts: Record<string, Omit<Bomb, 'name'>> = {
  'mesh-aliases': {
    injection: { ...sidecar(rendered), meshConfigFrom: { key: 'mesh' } },
    texts: { mesh: `defaultConfig: {}\n${aliases(40)}` },
  },
  'config-aliases': {
    injection: { configFrom: { key: 'config' } },
    texts: {
      config: `policy: enabled\ntemplates: {sidecar: "${rendered.replaceAll('"', '\\"')}"}\n${aliases(40)}`,
      values: '{}',
    },
  },
  'values-aliases': {
    injection: { ...sidecar(rendered), valuesFrom: { key: 'values' } },
    texts: { values: aliases(40) },
  },
  'values-depth': {
    injection: { ...sidecar(rendered), valuesFrom: { key: 'values' } },
    texts: { values: `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
  },
  'config-depth': {
    injection: { configFrom: { key: 'config' } },
    texts: { config: `policy: enabled\ntemplates: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`, values: '{}' },
  },
};

/** Bombs that explode when they are read, compiled, or rendered for any pod. */
export const bombs: readonly Bomb[] = [
  ...Object.entries({ ...templates, ...outputs }).map(([name, text]) => ({ name, injection: sidecar(text) })),
  ...Object.entries(texts).map(([name, bomb]) => ({ name, ...bomb })),
  // Explodes only for pods that request template `other`.
  { name: 'unused', injection: { templates: { sidecar: rendered, other: templates['deep-copy'] } } },
];

/** Bombs that explode only for pods with annotation `example.com/bomb`; trials do not find them. */
export const atAdmission: readonly Bomb[] = Object.entries({
  'ranges-on-demand': loops(1000, loops(2000, '{{ $x := . }}')),
  'output-on-demand': loops(900_000, '0123456789abcdef0123456789abcdef'),
  'recursion-on-demand': '{{ template "r" . }}',
}).map(([name, text]) => ({
  name,
  injection: {
    // Allow any text in the annotation, because this tests only the limits.
    annotationOverrides: { preset: 'Istio' },
    ...sidecar(
      `{{ define "r" }}{{ template "r" . }}{{ end }}{{ if index .ObjectMeta.Annotations "example.com/bomb" }}${text}{{ end }}${rendered}`,
    ),
  },
}));
