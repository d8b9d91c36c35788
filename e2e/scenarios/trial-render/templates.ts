/** A `spec.injection`, and the expected message. */
interface Tried {
  readonly title: string;
  readonly templates: Readonly<Record<string, string>>;
  readonly said: RegExp;
  readonly values?: object;
  readonly delimiters?: readonly [string, string];
  readonly policy?: string;
}

const sidecar = (title: string, text: string, said: RegExp, more: Partial<Tried> = {}): Tried => ({
  title,
  templates: { sidecar: text },
  said,
  ...more,
});
const container = (...lines: string[]): string =>
  ['spec:', '  containers:', '  - name: sidecar', ...lines.map((line) => `    ${line}`)].join('\n');
const image = 'image: example.com/sidecar:1';

/** Templates that fail for every pod. */
export const broken: readonly Tried[] = [
  sidecar('Wrong indentation', 'spec:\n containers:\n  - name: a\n   image: b', /line 4: bad indentation/),
  sidecar('A misspelt field of a struct', container('image: {{ .DeploymentMeta.Nmae }}'), /inject:4:\d+: .*Nmae/),
  sidecar('A member of a text', container('image: {{ .Values.image.tag }}'), /inject:4:\d+: .*image\.tag/, {
    values: { image: 'a' },
  }),
  sidecar('Other delimiters', container('image: [[ .Values.image ]]'), /Container\.spec\.containers\.image/),
  sidecar('A list', '- name: a', /invalid JSON document/),
  sidecar('A word', 'sidecar', /invalid JSON document/),
  sidecar('A tab', 'spec:\n\tcontainers: []', /line 2/),
  sidecar('A port that is a text', container(image, 'ports: [{containerPort: "80"}]'), /containerPort of type int32/),
  sidecar('An image that is a number', container('image: 5'), /Container\.spec\.containers\.image of type string/),
  sidecar('Containers that are a map', 'spec: {containers: {name: a}}', /containers/),
  sidecar('An environment that is a map', container(image, 'env: {A: b}'), /env/),
  sidecar('A command that is a text', container(image, 'command: sleep 1'), /command of type \[\]string/),
  sidecar('An invalid quantity', container(image, 'resources: {limits: {cpu: 1x}}'), /quantities/),
  sidecar('A list in a list', container(image, 'args: [[a]]'), /args/),
  sidecar('An index too deep', container('image: {{ index .Values "a" "b" }}'), /inject:4:\d+: .*index of nil pointer/),
  sidecar('A method with too many arguments', container('image: {{ .ObjectMeta.GetName 1 }}'), /inject:4:\d+: /),
  sidecar('A conversion of the wrong kind', container('image: {{ first .Values.image }}'), /error calling first/, {
    values: { image: 5 },
  }),
  sidecar('A missing template', '{{ template "other" . }}', /template "other" not defined/),
  sidecar('A refusal without a condition', '{{ fail "never" }}', /error calling fail: never/),
  sidecar('An owner that not every pod has', '{{ (index .ObjectMeta.OwnerReferences 7).Name }}', /inject:1:\d+: /),
  sidecar('A comparison of a text with a number', '{{ if eq .DeploymentMeta.Name 1 }}{{ end }}', /incompatible types/),
  sidecar('A range over a text', '{{ range .DeploymentMeta.Name }}{{ end }}', /range can't iterate over/),
  sidecar('A division by zero', container('image: {{ div 1 0 }}'), /divide by zero/),
  sidecar('Unclosed quotes in its output', container('image: "example.com'), /yaml/i),
  sidecar('A failure of the second template', 'spec: {}', /inject:1:\d+: .*Nmae/, {
    templates: { sidecar: 'spec: {}', second: '{{ .Nmae }}' },
    ...{ defaultTemplates: ['sidecar', 'second'] },
  }),
  sidecar('A template with policy disabled', '{{ .Nmae }}', /Nmae/, { policy: 'disabled' }),
];

/** Templates that work, but probably not as intended. */
export const doubtful: readonly Tried[] = [
  sidecar('Containers without spec', 'containers:\n- name: a\n  image: b', /dropped: containers;.*add nothing/),
  sidecar('A misspelt field of a container', container('imagee: a', image), /spec\.containers\[0\]\.imagee/),
  sidecar('A misspelt value', container('image: {{ .Values.imgae }}'), /<no value>.*spec\.containers\[0\]\.image/, {
    values: { image: 'a' },
  }),
  sidecar('Nothing at all', '# to be written', /add nothing/),
  sidecar(
    'A failure for some',
    container('image: {{ (index .ObjectMeta.OwnerReferences 0).Name }}'),
    /fail for 1 of 11/,
  ),
];
