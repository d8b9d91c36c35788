/** A `spec.injection`, with the expected message of the condition. */
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
  sidecar(
    'YAML with wrong indentation',
    'spec:\n containers:\n  - name: a\n   image: b',
    /line 4: did not find expected '-' indicator/,
  ),
  sidecar('a misspelt field of a struct', container('image: {{ .DeploymentMeta.Nmae }}'), /inject:4:\d+: .*Nmae/),
  sidecar('a field of a string', container('image: {{ .Values.image.tag }}'), /inject:4:\d+: .*image\.tag/, {
    values: { image: 'a' },
  }),
  sidecar('wrong delimiters', container('image: [[ .Values.image ]]'), /Container\.spec\.containers\.image/),
  sidecar('a template that renders a list', '- name: a', /invalid JSON document/),
  sidecar('a template that renders a word', 'sidecar', /invalid JSON document/),
  sidecar('YAML with a tab', 'spec:\n\tcontainers: []', /line 2/),
  sidecar('a port that is a string', container(image, 'ports: [{containerPort: "80"}]'), /containerPort of type int32/),
  sidecar('an image that is a number', container('image: 5'), /Container\.spec\.containers\.image of type string/),
  sidecar('containers that are a map', 'spec: {containers: {name: a}}', /containers/),
  sidecar('an environment that is a map', container(image, 'env: {A: b}'), /env/),
  sidecar('a command that is a string', container(image, 'command: sleep 1'), /command of type \[\]string/),
  sidecar('an invalid quantity', container(image, 'resources: {limits: {cpu: 1x}}'), /quantities/),
  sidecar('a list in a list', container(image, 'args: [[a]]'), /args/),
  sidecar('an index too deep', container('image: {{ index .Values "a" "b" }}'), /inject:4:\d+: .*index of nil pointer/),
  sidecar('a method with too many arguments', container('image: {{ .ObjectMeta.GetName 1 }}'), /inject:4:\d+: /),
  sidecar('a function with a wrong argument', container('image: {{ first .Values.image }}'), /error calling first/, {
    values: { image: 5 },
  }),
  sidecar('a missing template', '{{ template "other" . }}', /template "other" not defined/),
  sidecar('a template that always fails', '{{ fail "never" }}', /error calling fail: never/),
  sidecar('a missing eighth owner', '{{ (index .ObjectMeta.OwnerReferences 7).Name }}', /inject:1:\d+: /),
  sidecar('comparing string and number', '{{ if eq .DeploymentMeta.Name 1 }}{{ end }}', /incompatible types/),
  sidecar('a range over a string', '{{ range .DeploymentMeta.Name }}{{ end }}', /range can't iterate over/),
  sidecar('a division by zero', container('image: {{ div 1 0 }}'), /divide by zero/),
  sidecar('a result with unclosed quotes', container('image: "example.com'), /yaml/i),
  sidecar('a second template that fails', 'spec: {}', /inject:1:\d+: .*Nmae/, {
    templates: { sidecar: 'spec: {}', second: '{{ .Nmae }}' },
    ...{ defaultTemplates: ['sidecar', 'second'] },
  }),
  sidecar('a broken template with policy disabled', '{{ .Nmae }}', /Nmae/, { policy: 'disabled' }),
  sidecar('a misspelt value', container('image: {{ .Values.imgae }}'), /image of the injected pod .*<no value>/, {
    values: { image: 'a' },
  }),
  sidecar('a mount without a volume', container(image, 'volumeMounts: [{name: x, mountPath: /x}]'), /Not found: "x"/),
  sidecar(
    'a name with a capital letter',
    'spec: {containers: [{name: Proxy_1, image: a}]}',
    /Invalid value: "Proxy_1"/,
  ),
];

/** Templates that do not fail for every pod, but probably do not work as intended. */
export const doubtful: readonly Tried[] = [
  sidecar('a template without spec', 'containers:\n- name: a\n  image: b', /dropped: containers;.*add nothing/),
  sidecar('a misspelt field of a container', container('imagee: a', image), /spec\.containers\[0\]\.imagee/),
  sidecar('a template that adds nothing', '# to be written', /add nothing/),
  sidecar(
    'a template that fails for some pods',
    container('image: {{ (index .ObjectMeta.OwnerReferences 0).Name }}'),
    /fail for 1 of 11/,
  ),
];
