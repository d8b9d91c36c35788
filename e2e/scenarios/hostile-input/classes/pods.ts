import { hostilePod, hostileRequest, hostileText, portNumber, type Members } from '../materials.ts';

const refused = '200 refused';

/** Fields of a container by type. */
const fields = {
  string: ['name', 'image'],
  list: ['env', 'ports', 'volumeMounts', 'args'],
  object: ['resources', 'securityContext', 'livenessProbe'],
};

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
    const containers = random.pick<unknown>([random.otherThan('list'), [wrong], [...spec.containers, wrong]]);
    return { spec: { ...spec, containers } };
  }),
  hostilePod('pod-fields-of-wrong-type', refused, (random, { spec }) => {
    const type = random.pick(['string', 'list', 'object'] as const);
    const field = random.pick(fields[type]);
    return { spec: { ...spec, containers: [{ ...spec.containers[0], [field]: random.otherThan(type) }] } };
  }),
  // The resource of the request identifies a pod. The API server checks the kind.
  hostilePod('pod-of-another-kind', '200 patched', (random) => ({
    kind: random.pick(['Deployment', 'Secret', 'List', random.word()]),
    apiVersion: random.pick(['apps/v1', 'v2', '']),
  })),
  // Like Go, the operator refuses numbers that no field of a pod can hold.
  hostileText('pod-huge-numbers', refused, (random) => {
    const digits = '9'.repeat(20 + random.below(300));
    const fraction = `${random.below(1000)}.${1 + random.below(1000)}`;
    const numbers = ['1e400', '-1e400', digits, '1.5', '1e10', `-${digits}`, fraction];
    return random.healthyText().replace(portNumber, random.pick(numbers));
  }),
  // The API server validates the pod. The operator's cost grows only linearly.
  hostilePod('pod-with-thousands-of-containers', '200 patched', (random, { spec }) => {
    const container = (_: unknown, index: number) => ({ name: `c${index}`, image: random.word(3) });
    return { spec: { ...spec, containers: Array.from({ length: 1000 + random.below(1000) }, container) } };
  }),
  // The API server validates the pod.
  hostilePod('pod-with-thousands-of-labels', '200 patched', (random, { metadata }) => {
    const map = random.pick([metadata.labels, metadata.annotations]);
    for (let index = 500 + random.below(1000); index > 0; index--) map[`example.com/l${index}`] = random.word(4);
    return { metadata };
  }),
  // The names must not become arguments, and their bytes must not reach a terminal via the log.
  hostileRequest('pod-names-with-control-bytes', '200 refused', (random) => {
    const bytes = ['\u001b[2J\u001b[31m', '\u0000', '\u009b31m', '\u202e', '\u2028', '\u0007', '\u007f'];
    const others = ['\r\n2026-01-01 error forged line', '\\', '"', '${jndi:ldap://x}', '%s%n'];
    const evil = (): string => random.pick([...bytes, ...others]) + random.word();
    const object = random.pod();
    const [container = {}] = object.spec.containers;
    container.name = evil();
    object.metadata.generateName = evil();
    object.metadata.labels[evil()] = evil();
    object.metadata.annotations[evil()] = evil();
    return { ...random.creation(object), name: evil(), namespace: evil() };
  }),
  // The operator merges containers by name. The API server refuses duplicate names.
  hostilePod('pod-with-the-injector-s-names', '200 patched', (random, { spec }) => {
    const names = ['istio-proxy', 'istio-init', 'same', ''];
    const container = () => ({ ...spec.containers[0], name: random.pick(names) });
    const volume = () => ({ name: random.pick(['a', 'b']), emptyDir: {} });
    const containers = Array.from({ length: 2 + random.below(20) }, container);
    return { spec: { ...spec, containers, volumes: Array.from({ length: random.below(9) }, volume) } };
  }),
  // Unknown members of a pod stay unchanged.
  hostilePod('pod-that-contains-itself', '200 patched', (random, whole) => {
    let object: Members = whole;
    for (let level = 0; level < 20; level++)
      object = { ...random.pod(), [random.pick(['object', 'request', 'template', 'items'])]: object };
    return object;
  }),
  hostilePod('pod-with-managed-fields', '200 patched', (random, { metadata }) => {
    const fieldsV1 = { [`f:${random.word()}`]: { [`k:{"name":"${random.word()}"}`]: random.otherThan() } };
    return { metadata: { ...metadata, managedFields: [{ manager: random.word(), fieldsV1 }] } };
  }),
  // Unknown members of a pod stay unchanged.
  hostilePod('pod-of-random-members', '200 patched', (random, object) => {
    for (let count = 1 + random.below(6); count > 0; count--) {
      const place = random.pick<Members>([object, object.spec, object.metadata]);
      place[`x${random.bytes(6).toString('latin1')}`] = random.otherThan();
    }
    return object;
  }),
];
