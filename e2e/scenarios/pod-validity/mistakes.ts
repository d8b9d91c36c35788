import type { JsonObject } from '../../../src/inject/patch/json-value.ts';
import { listOf } from '../../../src/inject/kubernetes/admission-pod.ts';
import { objectAt } from '../../../src/inject/objects/workload-kinds.ts';
import { add, type Change, part } from './random-pods.ts';

/** Returns changes that set a field of a container. */
const set = (name: string, ...values: readonly unknown[]): Change[] =>
  values.map((value) => ({ container }) => {
    container[name] = value;
  });
const setInSpec = (name: string, ...values: readonly unknown[]): Change[] =>
  values.map((value) => ({ spec }) => {
    spec[name] = value;
  });
const adding = (list: string, ...items: readonly JsonObject[]): Change[] =>
  items.map((item) => ({ container }) => {
    add(container, list, item);
  });
const addingToSpec = (list: string, ...items: readonly JsonObject[]): Change[] =>
  items.map((item) => ({ spec }) => {
    add(spec, list, item);
  });
const variable = (...valueFrom: readonly JsonObject[]): Change[] =>
  adding('env', ...valueFrom.map((from) => ({ name: 'A', valueFrom: from })));
/** Adds a volume under a new name. */
const volume = (...sources: readonly JsonObject[]): Change[] =>
  sources.map((source) => ({ spec, random }) => {
    add(spec, 'volumes', { name: `w${random.below(1e6)}`, ...source });
  });
/** Mounts a new volume with a mistake. */
const mount = (...mounts: readonly JsonObject[]): Change[] =>
  mounts.map((mistake) => ({ spec, container, random }) => {
    const name = `m${random.below(1e6)}`;
    add(spec, 'volumes', { name, emptyDir: {} });
    add(container, 'volumeMounts', { name, mountPath: `/${name}`, ...mistake });
    if (mistake.mountPath === 'twice') add(container, 'volumeMounts', { name, mountPath: 'twice' });
  });
const resources = (...values: readonly JsonObject[]): Change[] => set('resources', ...values);
const probe = (...probes: readonly JsonObject[]): Change[] =>
  probes.map((mistake) => ({ running, random }) => {
    running[random.pick(['livenessProbe', 'readinessProbe', 'startupProbe'])] = mistake;
  });
const security = (...contexts: readonly JsonObject[]): Change[] => set('securityContext', ...contexts);
const tcpSocket = { port: 80 };
const exec = { command: ['a'] };
const inMetadata =
  (name: string, key: string, value: string): Change =>
  ({ pod }) => {
    const metadata = part(pod, 'metadata');
    metadata[name] = { ...objectAt(metadata, [name]), [key]: value };
  };
const podResources = (resourcesOfPod: JsonObject): Change => {
  return ({ spec }) => {
    const [first] = listOf(spec.containers);
    if (first !== undefined) first.resources = { requests: { cpu: '250m' }, limits: { cpu: '500m' } };
    spec.resources = resourcesOfPod;
  };
};

/** The named rules, each with changes that break it. */
export const mistakes: Readonly<Record<string, readonly Change[]>> = {
  'container name': set('name', 'Proxy_1', 'a.b', 'a'.repeat(64), '', '-a'),
  'duplicate container name': [
    ({ spec }) => {
      const [first] = listOf(spec.containers);
      add(spec, 'containers', { name: first?.name, image: 'a' });
    },
    ({ spec }) => {
      const [first] = listOf(spec.containers);
      add(spec, 'initContainers', { name: first?.name, image: 'a' });
    },
    ({ spec, starting }) => {
      add(spec, 'initContainers', { ...starting, image: 'a' }, { name: starting.name, image: 'b' });
    },
  ],
  'istio-proxy twice, once without image': [
    ({ spec }) => {
      add(spec, 'containers', { name: 'proxy', env: [{ name: 'A', value: 'b' }] });
      add(spec, 'initContainers', { name: 'proxy', image: 'a', restartPolicy: 'Always' });
    },
  ],
  image: set('image', '', null, ' a', 'a\n'),
  imagePullPolicy: set('imagePullPolicy', 'always', 'IfNotpresent', '<no value>'),
  terminationMessagePolicy: set('terminationMessagePolicy', 'file', 'Logs'),
  'volumeMount without volume': mount({ name: 'nothing' }, { name: 'x' }, { name: 'Logs' }),
  mountPath: mount({ mountPath: 'twice' }, { mountPath: '' }),
  subPath: mount({ subPath: '/a' }, { subPath: 'a/../b' }, { subPathExpr: '../a' }, { subPath: 'a', subPathExpr: 'b' }),
  mountPropagation: mount({ mountPropagation: 'Bidirectional' }, { mountPropagation: 'Shared' }),
  'volume name': addingToSpec('volumes', { name: 'A_b', emptyDir: {} }, { emptyDir: {} }, { name: 'a'.repeat(64) }),
  'duplicate volume': [
    ({ spec }) => {
      add(spec, 'volumes', { name: 'same', emptyDir: {} }, { name: 'same', emptyDir: {} });
    },
  ],
  'two volume sources': volume(
    { emptyDir: {}, secret: { secretName: 'a' } },
    { configMap: { name: 'a' }, hostPath: { path: '/a' } },
  ),
  'volume source': volume(
    ...[{ secret: {} }, { configMap: {} }, { persistentVolumeClaim: { claimName: '' } }, { csi: { driver: '' } }],
    ...[{ hostPath: { path: '' } }, { hostPath: { path: '/a/../b' } }, { hostPath: { path: '/a', type: 'Dir' } }],
    ...[{ ephemeral: {} }, { nfs: { server: 'a' } }, { emptyDir: { sizeLimit: '-1' } }],
  ),
  'volume file': volume(
    ...[{ secret: { secretName: 'a', defaultMode: 512 } }, { configMap: { name: 'a', items: [{ key: 'a' }] } }],
    ...[{ configMap: { name: 'a', items: [{ key: 'a', path: '/a' }] } }, { downwardAPI: { items: [{ path: 'a' }] } }],
    ...[{ secret: { secretName: 'a', items: [{ key: 'a', path: '..a' }] } }],
    { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'spec.nodeName' } }] } },
    { downwardAPI: { items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }] } },
  ),
  'projected volume': volume(
    { projected: { sources: [{ serviceAccountToken: { path: 'a', expirationSeconds: 599 } }] } },
    { projected: { sources: [{ serviceAccountToken: { expirationSeconds: 600 } }] } },
    { projected: { sources: [{ secret: {} }] } },
    { projected: { sources: [{ secret: { name: 'a' }, configMap: { name: 'a' } }] } },
    { projected: { sources: ['a', 'b'].map((name) => ({ secret: { name, items: [{ key: 'a', path: 'a' }] } })) } },
  ),
  'port number': adding('ports', { containerPort: 99_999 }, { containerPort: -1 }, { name: 'a' }, { containerPort: 0 }),
  'port name': adding(
    'ports',
    { containerPort: 1, name: 'A' },
    { containerPort: 1, name: 'a'.repeat(16) },
    { containerPort: 1, name: '1' },
  ),
  'duplicate port name': [
    ({ container }) => {
      add(container, 'ports', { containerPort: 1, name: 'same' }, { containerPort: 2, name: 'same' });
    },
  ],
  'port protocol': adding('ports', { containerPort: 1, protocol: 'tcp' }, { containerPort: 1, protocol: 'HTTP' }),
  hostPort: [
    ({ spec }) => {
      const [first] = listOf(spec.containers);
      spec.hostNetwork = true;
      if (first !== undefined) add(first, 'ports', { containerPort: 1, hostPort: 2 });
    },
    ...adding('ports', { containerPort: 1, hostPort: 65_536 }),
    ({ container }) => {
      add(container, 'ports', { containerPort: 1, hostPort: 3 }, { containerPort: 2, hostPort: 3, protocol: 'TCP' });
    },
  ],
  'variable name': adding('env', { value: 'a' }, { name: 'A=b', value: '' }, { name: 'é', value: '' }, { name: 'a\n' }),
  'value and valueFrom': adding('env', {
    name: 'A',
    value: 'b',
    valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
  }),
  'sources of a variable': variable(
    {},
    {
      fieldRef: { fieldPath: 'metadata.name' },
      configMapKeyRef: { name: 'a', key: 'a' },
    },
  ),
  'field of a variable': variable(
    ...[
      'metadata.labels',
      'metadata.nope',
      'spec.restartPolicy',
      "metadata.name['a']",
      "metadata.labels['a b']",
      '',
    ].map((fieldPath) => ({ fieldRef: { fieldPath } })),
    { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } },
  ),
  'key of a variable': variable(
    ...[{ secretKeyRef: { name: 'a' } }, { secretKeyRef: { key: 'a' } }, { configMapKeyRef: { name: 'A', key: 'a' } }],
    ...[{ configMapKeyRef: { name: 'a', key: 'a b' } }, { resourceFieldRef: { resource: 'limits.gpu' } }],
  ),
  envFrom: adding(
    'envFrom',
    ...[
      {},
      { prefix: 'a' },
      { configMapRef: {} },
      { secretRef: { name: 'A' } },
      { prefix: '=', secretRef: { name: 'a' } },
    ],
    { secretRef: { name: 'a' }, configMapRef: { name: 'a' } },
  ),
  'requests above limits': resources(
    ...[
      { requests: { cpu: '200m' }, limits: { cpu: '100m' } },
      { requests: { memory: '1Gi' }, limits: { memory: '1G' } },
    ],
    { requests: { cpu: '1001m' }, limits: { cpu: 1 } },
  ),
  'negative amount': resources({ requests: { cpu: '-1' } }, { limits: { memory: '-1Mi' } }),
  'resource name': resources(
    { requests: { mem: '1' } },
    { limits: { gpu: 1 } },
    { limits: { 'a b': 1 } },
    { limits: { 'requests.a/b': 1 } },
  ),
  'extended resource': resources(
    ...[
      { requests: { 'a.b/c': 1 } },
      { limits: { 'a.b/c': 2 }, requests: { 'a.b/c': 1 } },
      { limits: { 'a.b/c': '100m' } },
    ],
  ),
  'resource claim': resources({ claims: [{ name: 'gpu' }] }),
  'probe handler': probe(
    ...[{}, { periodSeconds: 1 }, { exec, tcpSocket }, { exec: {} }, { tcpSocket: {} }, { grpc: { port: 0 } }],
    ...[{ httpGet: { port: '8080' } }, { httpGet: { port: 99_999 } }, { httpGet: { port: 1, scheme: 'http' } }],
    { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: '' }] } },
  ),
  'probe numbers': [
    ...probe({ exec, timeoutSeconds: -1 }, { exec, failureThreshold: -1 }, { exec, terminationGracePeriodSeconds: 0 }),
    ({ running }) => {
      running.livenessProbe = { exec, successThreshold: 2 };
    },
    ({ running }) => {
      running.readinessProbe = { exec, terminationGracePeriodSeconds: 5 };
    },
  ],
  'probe or hook of an init container': ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'].map(
    (name): Change =>
      ({ spec, random }) => {
        const mistake = name === 'lifecycle' ? { preStop: { exec } } : { exec };
        add(spec, 'initContainers', { name: `i${random.below(1e6)}`, image: 'a', [name]: mistake });
      },
  ),
  hook: [{}, { exec: {} }, { exec, tcpSocket }, { sleep: { seconds: -1 } }, { sleep: { seconds: 10_000 } }].map(
    (preStop): Change =>
      ({ running }) => {
        running.lifecycle = { preStop };
      },
  ),
  'restartPolicy of the pod': setInSpec('restartPolicy', 'always', 'Onfailure', '<no value>'),
  'restartPolicy of a container': set('restartPolicy', 'always', ''),
  restartPolicyRules: [{ action: 'Restart' }, { action: 'Stop', exitCodes: { operator: 'In', values: [1] } }].map(
    (rule): Change =>
      ({ container }) => {
        container.restartPolicy = 'Never';
        container.restartPolicyRules = [rule];
      },
  ),
  resizePolicy: [
    ...set('resizePolicy', [{ resourceName: 'disk', restartPolicy: 'NotRequired' }], [{ resourceName: 'cpu' }]),
    ({ spec, running }) => {
      spec.restartPolicy = 'Never';
      running.resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    },
  ],
  'privilege escalation': security(
    { allowPrivilegeEscalation: false, privileged: true },
    { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } },
  ),
  'user or profile': [
    ...security({ runAsUser: -1 }, { runAsGroup: 2 ** 31 }, { seccompProfile: { type: 'runtime/default' } }),
    ...security(
      { seccompProfile: { type: 'Localhost' } },
      { appArmorProfile: { type: 'Unconfined', localhostProfile: 'a' } },
    ),
    ...security({ seccompProfile: {} }, { procMount: 'default' }),
    ...setInSpec('securityContext', { fsGroup: -1 }, { supplementalGroups: [-1] }, { fsGroupChangePolicy: 'Never' }),
  ],
  'resources of the pod': [
    podResources({ requests: { cpu: '100m' } }),
    podResources({ limits: { cpu: '100m' } }),
    podResources({ limits: { cpu: '400m' }, requests: { cpu: '400m', memory: '1' } }),
    podResources({ requests: { cpu: 200 }, limits: { cpu: 100 } }),
    podResources({ limits: { 'ephemeral-storage': '1Gi' } }),
  ],
  dns: [
    ...setInSpec('dnsPolicy', 'clusterFirst', 'none'),
    ...setInSpec('dnsConfig', { nameservers: ['dns.local'] }, { searches: ['a b'] }, { options: [{ value: 'a' }] }),
    ({ spec }) => {
      spec.dnsPolicy = 'None';
      spec.dnsConfig = { searches: ['a'] };
    },
  ],
  hostAliases: addingToSpec(
    'hostAliases',
    { ip: 'localhost' },
    { hostnames: ['a'] },
    { ip: '1.2.3.4', hostnames: ['A_b'] },
  ),
  'name in the spec': [
    ...setInSpec('hostname', 'a.b', 'A'),
    ...setInSpec('subdomain', 'a_b'),
    ...setInSpec('nodeName', 'A'),
    ...setInSpec('os', {}, { name: 'Linux' }),
    ...setInSpec('schedulingGates', [{ name: 'a b' }], [{ name: '' }]),
    ...setInSpec('readinessGates', [{ conditionType: 'a b' }], [{ conditionType: '' }]),
    ({ pod }) => {
      part(pod, 'metadata').finalizers = ['a b'];
    },
  ],
  'label or annotation': [
    inMetadata('labels', 'a b', ''),
    inMetadata('labels', 'a', '<no value>'),
    inMetadata('labels', 'a', 'x'.repeat(64)),
    inMetadata('annotations', 'a/b/c', ''),
    inMetadata('annotations', '/a', ''),
    ...setInSpec('nodeSelector', { a: 'b c' }),
  ],
  tolerations: addingToSpec(
    'tolerations',
    ...[
      { key: 'a', operator: 'exists' },
      { key: 'a', operator: 'Exists', value: 'b' },
      { key: 'a', effect: 'noexecute' },
    ],
    ...[
      { operator: 'Equal' },
      { key: 'a', tolerationSeconds: 1 },
      { key: 'a b', operator: 'Exists' },
      { key: 'a', value: 'b c' },
    ],
  ),
  affinity: [
    { key: 'a', operator: 'in', values: ['b'] },
    { key: 'a b', operator: 'Exists' },
  ].flatMap((expression) => {
    const matchExpressions = [expression];
    const [nodes, pods] = [[{ matchExpressions }], { topologyKey: 'a', labelSelector: { matchExpressions } }];
    const required = 'requiredDuringSchedulingIgnoredDuringExecution';
    const nodeAffinity = { [required]: { nodeSelectorTerms: nodes } };
    return setInSpec('affinity', { nodeAffinity }, { podAffinity: { [required]: [pods] } });
  }),
  topologySpreadConstraints: [
    ...setInSpec('topologySpreadConstraints', [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'Never' }]),
    ...setInSpec('topologySpreadConstraints', [{ topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' }]),
    ...setInSpec('topologySpreadConstraints', [{ maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }]),
    ...setInSpec('topologySpreadConstraints', [
      { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 1 },
    ]),
  ],
  ephemeralContainers: addingToSpec('ephemeralContainers', { name: 'debug', image: 'a' }),
};
