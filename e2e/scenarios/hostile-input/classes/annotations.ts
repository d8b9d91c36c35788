import { hostilePod, type Materials } from '../materials.ts';

const refused = '200 refused';

/** Defines a class of pods that have one of some texts in an annotation. */
function hostileNote(name: string, expect: string, annotation: string, texts: (random: Materials) => string[]) {
  return hostilePod(name, expect, (random, pod) => {
    pod.metadata.annotations[annotation] = random.pick(texts(random));
    return pod;
  });
}

/** Returns YAML that each level of aliases expands ninefold. */
function bomb(random: Materials): string {
  const name = random.word(4);
  const levels = 8 + random.below(20);
  const lines = [`${name}0: &${name}0 [${random.word()}, ${random.word()}]`];
  for (let level = 1; level < levels; level++) {
    const aliases = Array<string>(9).fill(`*${name}${level - 1}`);
    lines.push(`${name}${level}: &${name}${level} [${aliases.join(', ')}]`);
  }
  return `${lines.join('\n')}\nproxyMetadata: *${name}${levels - 1}\n`;
}

/** Annotations that Istio validates, each with an invalid value. */
const checked = (random: Materials) => [
  ['sidecar.istio.io/interceptionMode', random.word()],
  ['sidecar.istio.io/proxyCPU', `${random.word()} cores`],
  ['status.sidecar.istio.io/port', String(70_000 + random.below(1_000_000))],
  ['traffic.sidecar.istio.io/excludeInboundPorts', `80,${random.word()}`],
  ['traffic.sidecar.istio.io/includeOutboundIPRanges', `10.0.0.${random.below(999)}/64`],
  ['readiness.status.sidecar.istio.io/periodSeconds', `-${random.below(100)}`],
];

/** Classes of pods with hostile annotations that the operator reads. */
export const annotations = [
  // The number of aliases is bounded, so the operator refuses the text instead of expanding it.
  hostileNote('annotation-yaml-bomb', refused, 'proxy.istio.io/config', (random) => [bomb(random)]),
  hostileNote('annotation-that-is-no-yaml', refused, 'proxy.istio.io/config', (random) => [
    `[${random.word()}`,
    `{a: ${random.word()}`,
    `\t${random.word()}: 1`,
    `"${random.word()}`,
    `- ${random.word()}`,
    `${random.word()}: [}`,
    `!!binary ${random.word()}`,
  ]),
  hostileNote('annotation-with-wrong-fields', refused, 'proxy.istio.io/config', (random) =>
    ['concurrency', 'proxyMetadata', 'tracing', 'drainDuration', 'image'].map((field) =>
      JSON.stringify({ [field]: random.pick<unknown>([[random.word()], `${random.word()} `, [{}]]) }),
    ),
  ),
  // Istio validates these values before a template sees them.
  hostilePod('annotation-of-wrong-value', refused, (random, { metadata }) => {
    const [name = '', wrong] = random.pick(checked(random));
    return { metadata: { ...metadata, annotations: { [name]: wrong } } };
  }),
  // The refusal names the error. Neither the refusal nor the log grows with the input.
  hostilePod('annotation-with-long-wrong-value', refused, (random, { metadata }) => {
    const [name = ''] = random.pick(checked(random));
    const long = `${random.word(20)} `.repeat(100 + random.below(500));
    return { metadata: { ...metadata, annotations: { [name]: long } } };
  }),
  // The refusal names the missing template.
  hostileNote('annotation-of-unknown-templates', refused, 'inject.istio.io/templates', (random) => [
    random.word(20),
    `sidecar,${random.word()}`,
    '__proto__',
    'constructor',
    '../sidecar',
    random.bytes(12).toString('latin1'),
  ]),
  hostileNote('annotation-of-bad-overrides', refused, 'proxy.istio.io/overrides', (random) => [
    random.word(),
    `{"containers":${JSON.stringify(random.otherThan('list'))}}`,
    `{"containers":[${JSON.stringify(random.otherThan('object'))}]}`,
    `[${random.below(99)}]`,
    `{"containers":[{"name":${random.below(99)}}]}`,
    `{"containers":`,
  ]),
  // An unreadable status only shows that the pod was injected before.
  hostileNote('annotation-of-a-false-status', '200 patched', 'sidecar.istio.io/status', (random) => [
    random.word(),
    '',
    `{"containers":${JSON.stringify(random.otherThan('list'))}}`,
    `{"containers":["__proto__","constructor","${random.word()}"]}`,
    '[]',
    'null',
    `{"initContainers":[[["${random.word()}"]]]}`,
  ]),
  // Templates treat annotations as text, never as templates, and quote them.
  hostileNote('annotation-in-template-syntax', '200 patched', 'example.com/guard-note', (random) => {
    const syntax = ['{{ .Values }}', '{{ template "sidecar" . }}', '*alias', '&anchor x', '!!js/function', '${HOME}'];
    const ends = ['"]}\n- name: evil\n  image: ', "'; drop table", '\n  hostNetwork: true\n#', '---\n'];
    return [...syntax, ...ends].map((evil) => `${evil}${random.word(8)}`);
  }),
];
