import {
  bytes,
  creation,
  healthyText,
  hostilePod,
  hostileRequest,
  hostileText,
  otherThan,
  pod,
  word,
  type HostileClass,
  type Members,
} from '../materials.ts';

const refused = '200 refused';

/** Pods that are none, or that nobody would run. */
export const pods: readonly HostileClass[] = [
  hostilePod('pod-metadata-of-wrong-type', refused, (random, object) => ({
    ...object,
    metadata: otherThan(random, 'object'),
  })),
  hostilePod('pod-labels-of-wrong-type', refused, (random, object) => {
    const wrong = random.pick<unknown>([otherThan(random, 'object'), { [word(random)]: otherThan(random, 'string') }]);
    const metadata = { ...object.metadata, [random.pick(['labels', 'annotations'])]: wrong };
    return { ...object, metadata };
  }),
  hostilePod('pod-spec-of-wrong-type', refused, (random, object) => ({ ...object, spec: otherThan(random, 'object') })),
  hostilePod('pod-containers-of-wrong-type', refused, (random, object) => {
    const wrong = random.pick<unknown>([
      otherThan(random, 'list'),
      [otherThan(random, 'object')],
      [...object.spec.containers, otherThan(random, 'object')],
    ]);
    return { ...object, spec: { ...object.spec, containers: wrong } };
  }),
  hostilePod('pod-fields-of-wrong-type', refused, (random, object) => {
    const [container = {}] = object.spec.containers;
    const field = random.pick([
      'name',
      'image',
      'env',
      'ports',
      'resources',
      'securityContext',
      'volumeMounts',
      'args',
      'livenessProbe',
    ]);
    const types: Record<string, string> = {
      name: 'string',
      image: 'string',
      env: 'list',
      ports: 'list',
      volumeMounts: 'list',
      args: 'list',
    };
    container[field] = otherThan(random, types[field] ?? 'object');
    return object;
  }),
  // The resource says that it is a pod; the kind that it names itself is the API server's to check.
  hostilePod('pod-of-another-kind', '200 patched', (random, object) => ({
    ...object,
    kind: random.pick(['Deployment', 'Secret', 'List', word(random)]),
    apiVersion: random.pick(['apps/v1', 'v2', '']),
  })),
  // A number that no field of a pod can hold is refused, as in Go.
  hostileText('pod-huge-numbers', refused, (random) => {
    const number = random.pick([
      '1e400',
      '-1e400',
      '9'.repeat(20 + random.below(300)),
      '1.5',
      '1e10',
      `-${'9'.repeat(20 + random.below(50))}`,
      `${random.below(1000)}.${1 + random.below(1000)}`,
    ]);
    return healthyText(random).replace(/(?<="containerPort":)\d+/, number);
  }),
  // What the API server would store is its business; the cost grows with the pod and no faster.
  hostilePod('pod-with-thousands-of-containers', '200 patched', (random, object) => {
    const count = 1000 + random.below(1000);
    object.spec.containers = Array.from({ length: count }, (_, index) => ({
      name: `c${index}`,
      image: word(random, 3),
    }));
    return object;
  }),
  // What the API server would store is its business.
  hostilePod('pod-with-thousands-of-labels', '200 patched', (random, object) => {
    const kind = random.pick(['labels', 'annotations'] as const);
    for (let index = 500 + random.below(1000); index > 0; index--)
      object.metadata[kind][`example.com/l${index}`] = word(random, 4);
    return object;
  }),
  // A name that is no word may not stand in an argument, and the log must not carry their bytes to a terminal.
  hostileRequest('pod-names-with-control-bytes', '200 refused', (random) => {
    const evil = (): string =>
      random.pick([
        '\u001b[2J\u001b[31m',
        '\u0000',
        '\r\n2026-01-01 error forged line',
        '\u009b31m',
        '\u202e',
        '\u2028',
        '\u0007',
        '\u007f',
        '\\',
        '"',
        '${jndi:ldap://x}',
        '%s%n',
      ]) + word(random);
    const object = pod(random);
    const [container = {}] = object.spec.containers;
    container.name = evil();
    object.metadata.generateName = evil();
    object.metadata.labels[evil()] = evil();
    object.metadata.annotations[evil()] = evil();
    return { ...creation(random, object), name: evil(), namespace: evil() };
  }),
  // A container of the template's name is merged with it; volumes and names that repeat are the API server's to refuse.
  hostilePod('pod-with-the-injector-s-names', '200 patched', (random, object) => {
    const [container = {}] = object.spec.containers;
    object.spec.containers = Array.from({ length: 2 + random.below(20) }, () => ({
      ...container,
      name: random.pick(['istio-proxy', 'istio-init', 'same', '']),
    }));
    object.spec.volumes = Array.from({ length: random.below(9) }, () => ({
      name: random.pick(['a', 'b']),
      emptyDir: {},
    }));
    return object;
  }),
  // Members that a pod does not have are left as they came.
  hostilePod('pod-that-contains-itself', '200 patched', (random, whole) => {
    let object: Members = whole;
    for (let level = 0; level < 20; level++)
      object = { ...pod(random), [random.pick(['object', 'request', 'template', 'items'])]: object };
    return object;
  }),
  hostilePod('pod-with-managed-fields', '200 patched', (random, object) => {
    object.metadata.managedFields = [
      {
        manager: word(random),
        fieldsV1: { [`f:${word(random)}`]: { [`k:{"name":"${word(random)}"}`]: otherThan(random) } },
      },
    ];
    return object;
  }),
  // Members that a pod does not have are left as they came.
  hostilePod('pod-of-random-members', '200 patched', (random, object) => {
    for (let count = 1 + random.below(6); count > 0; count--) {
      const place = random.pick<Members>([object, object.spec, object.metadata]);
      place[`x${bytes(random, 6).toString('latin1')}`] = otherThan(random);
    }
    return object;
  }),
];
