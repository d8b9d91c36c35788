import { hostilePod, hostileText, portNumber, review, type HostileClass, type Materials, type Members } from './materials.ts';

const refused = '200 refused';
const patched = '200 patched';

/** Fields of a container by type. */
const fields = { string: ['name', 'image'], list: ['env', 'ports', 'volumeMounts', 'args'], object: ['resources', 'securityContext', 'livenessProbe'] };

/** Classes of objects that are not valid pods, and of absurd pods. */
export const pods = [
  hostilePod('pod-metadata-of-wrong-type', refused, (random) => ({ metadata: random.otherThan('object') })),
  hostilePod('pod-labels-of-wrong-type', refused, (random, { metadata }) => {
    const wrong = random.pick<unknown>([random.otherThan('object'), { [random.word()]: random.otherThan('string') }]);
    return { metadata: { ...metadata, [random.pick(['labels', 'annotations'])]: wrong } };
  }),
  hostilePod('pod-spec-of-wrong-type', refused, (random) => ({ spec: random.otherThan('object') })),
  hostilePod('pod-containers-of-wrong-type', refused, (random, { spec }) => {
    const wrong = random.otherThan('object');
    return { spec: { ...spec, containers: random.pick<unknown>([random.otherThan('list'), [wrong], [...spec.containers, wrong]]) } };
  }),
  hostilePod('pod-fields-of-wrong-type', refused, (random, { spec }) => {
    const type = random.pick(['string', 'list', 'object'] as const);
    return { spec: { ...spec, containers: [{ ...spec.containers[0], [random.pick(fields[type])]: random.otherThan(type) }] } };
  }),
  // The resource of the request identifies a pod. The API server checks the kind.
  hostilePod('pod-of-another-kind', patched, (random) =>
    ({ kind: random.pick(['Deployment', 'Secret', 'List', random.word()]), apiVersion: random.pick(['apps/v1', 'v2', '']) })),
  // Like Go, the operator refuses numbers that no field of a pod can hold.
  hostileText('pod-huge-numbers', refused, (random) => {
    const digits = '9'.repeat(20 + random.below(300));
    const fraction = `${random.below(1000)}.${1 + random.below(1000)}`;
    return random.healthyText().replace(portNumber, random.pick(['1e400', '-1e400', digits, '1.5', '1e10', `-${digits}`, fraction]));
  }),
  // The API server validates these two pods. The operator's cost grows only linearly.
  hostilePod('pod-with-thousands-of-containers', patched, (random, { spec }) => {
    const container = (_: unknown, index: number) => ({ name: `c${index}`, image: random.word(3) });
    return { spec: { ...spec, containers: Array.from({ length: 1000 + random.below(1000) }, container) } };
  }),
  hostilePod('pod-with-thousands-of-labels', patched, (random, { metadata }) => {
    const map = random.pick([metadata.labels, metadata.annotations]);
    for (let index = 500 + random.below(1000); index > 0; index--) map[`example.com/l${index}`] = random.word(4);
    return { metadata };
  }),
  // The names must not become arguments, and their bytes must not reach a terminal via the log.
  hostileText('pod-names-with-control-bytes', refused, (random) => {
    const bytes = ['\u001b[2J\u001b[31m', '\u0000', '\u009b31m', '\u202e', '\u2028', '\u0007', '\u007f'];
    const texts = [...bytes, '\r\n2026-01-01 error forged line', '\\', '"', '${jndi:ldap://x}', '%s%n'];
    const evil = (): string => random.pick(texts) + random.word();
    const { spec } = random.pod();
    const metadata = { generateName: evil(), labels: { [evil()]: evil() }, annotations: { [evil()]: evil() } };
    const object = { kind: 'Pod', apiVersion: 'v1', metadata, spec: { ...spec, containers: [{ ...spec.containers[0], name: evil() }] } };
    return JSON.stringify(review({ ...random.creation(object), name: evil(), namespace: evil() }));
  }),
  // Under preset Safe, a container must not change the template's container of its name.
  hostilePod('pod-with-the-injector-s-names', refused, (random, { spec }) => {
    const container = (_: unknown, index: number) => ({ ...spec.containers[0], name: random.pick(index === 0 ? ['istio-proxy'] : ['istio-init', 'same', '']) });
    const volume = () => ({ name: random.pick(['a', 'b']), emptyDir: {} });
    const containers = Array.from({ length: 2 + random.below(20) }, container);
    return { spec: { ...spec, containers, volumes: Array.from({ length: random.below(9) }, volume) } };
  }),
  // Unknown members of a pod stay unchanged.
  hostilePod('pod-that-contains-itself', patched, (random, whole) => {
    let object: Members = whole;
    for (let level = 0; level < 20; level++)
      object = { ...random.pod(), [random.pick(['object', 'request', 'template', 'items'])]: object };
    return object;
  }),
  hostilePod('pod-with-managed-fields', patched, (random, { metadata }) => {
    const fieldsV1 = { [`f:${random.word()}`]: { [`k:{"name":"${random.word()}"}`]: random.otherThan() } };
    return { metadata: { ...metadata, managedFields: [{ manager: random.word(), fieldsV1 }] } };
  }),
  hostilePod('pod-of-random-members', patched, (random, object) => {
    for (let count = 1 + random.below(6); count > 0; count--)
      random.pick<Members>([object, object.spec, object.metadata])[`x${random.bytes(6).toString('latin1')}`] = random.otherThan();
    return object;
  }),
];

/** Defines a class of pods that have one of some texts in an annotation. */
function hostileNote(name: string, expect: string, annotation: string, texts: (random: Materials) => string[]): HostileClass {
  return hostilePod(name, expect, (random, pod) => {
    pod.metadata.annotations[annotation] = random.pick(texts(random));
    return pod;
  });
}

/** Returns YAML that each level of aliases expands ninefold. */
function bomb(random: Materials): string {
  const name = random.word(4);
  const levels = 8 + random.below(20);
  const aliases = (level: number): string => Array<string>(9).fill(`*${name}${level}`).join(', ');
  const line = (_: unknown, level: number): string =>
    `${name}${level}: &${name}${level} [${level === 0 ? random.word() : aliases(level - 1)}]`;
  return `${Array.from({ length: levels }, line).join('\n')}\nproxyMetadata: *${name}${levels - 1}\n`;
}

/** Annotations that Istio validates before a template sees them, each with an invalid value. */
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
  hostileNote('annotation-that-is-no-yaml', refused, 'proxy.istio.io/config', (random) =>
    ['[', '{a: ', '"', '- ', '!!binary '].map((start) => start + random.word()).concat(`\t${random.word()}: 1`, `${random.word()}: [}`)),
  hostileNote('annotation-with-wrong-fields', refused, 'proxy.istio.io/config', (random) => {
    const wrong = (): unknown => random.pick<unknown>([[random.word()], `${random.word()} `, [{}]]);
    return ['concurrency', 'proxyMetadata', 'tracing', 'drainDuration', 'image'].map((field) => JSON.stringify({ [field]: wrong() }));
  }),
  hostilePod('annotation-of-wrong-value', refused, (random, { metadata }) =>
    ({ metadata: { ...metadata, annotations: Object.fromEntries([random.pick(checked(random))]) as Members } })),
  // The refusal names the error. Neither the refusal nor the log grows with the input.
  hostilePod('annotation-with-long-wrong-value', refused, (random, { metadata }) => {
    const [name = ''] = random.pick(checked(random));
    return { metadata: { ...metadata, annotations: { [name]: `${random.word(20)} `.repeat(100 + random.below(500)) } } };
  }),
  // The refusal names the missing template.
  hostileNote('annotation-of-unknown-templates', refused, 'inject.istio.io/templates', (random) => {
    const words = [random.word(20), `sidecar,${random.word()}`, random.bytes(12).toString('latin1')];
    return [...words, '__proto__', 'constructor', '../sidecar'];
  }),
  hostileNote('annotation-of-bad-overrides', refused, 'proxy.istio.io/overrides', (random) => {
    const wrong = [random.otherThan('list'), [random.otherThan('object')], [{ name: random.below(99) }]];
    return [...wrong.map((containers) => JSON.stringify({ containers })), random.word(), `[${random.below(99)}]`, `{"containers":`];
  }),
  // An unreadable status only shows that the pod was injected before.
  hostileNote('annotation-of-a-false-status', patched, 'sidecar.istio.io/status', (random) => {
    const lists = [random.otherThan('list'), ['__proto__', 'constructor', random.word()]].map((containers) => ({ containers }));
    const objects = [...lists, { initContainers: [[[random.word()]]] }, [], null];
    return [random.word(), '', ...objects.map((value) => JSON.stringify(value))];
  }),
  // Templates treat annotations as text, never as templates, and quote them.
  hostileNote('annotation-in-template-syntax', patched, 'example.com/guard-note', (random) => {
    const syntax = ['{{ .Values }}', '{{ template "sidecar" . }}', '*alias', '&anchor x', '!!js/function', '${HOME}'];
    const ends = ['"]}\n- name: evil\n  image: ', "'; drop table", '\n  hostNetwork: true\n#', '---\n'];
    return [...syntax, ...ends].map((evil) => `${evil}${random.word(8)}`);
  }),
];
