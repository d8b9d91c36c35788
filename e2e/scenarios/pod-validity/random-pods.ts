import type { Random } from '../../../scripts/template-recorder/random.ts';
import { inject } from '../../../src/inject/inject.ts';
import { loadInjector, type Injector } from '../../../src/inject/injector.ts';
import { listOf } from '../../../src/inject/kubernetes/admission-pod.ts';
import { objectAt } from '../../../src/inject/objects/workload-kinds.ts';
import type { JsonObject } from '../../../src/inject/patch/json-value.ts';
import { typicalPod } from '../../../src/inject/rehearsal/typical-pods.ts';
import { istioTexts } from '../istio-templates/istio-texts.ts';

/** A pod that a change works on: a copy that it may edit in place. */
interface Subject {
  readonly pod: JsonObject;
  readonly spec: JsonObject;
  /** One of the containers and init containers. */
  readonly container: JsonObject;
  /** A container that may have probes and hooks. */
  readonly running: JsonObject;
  /** An init container that ends. */
  readonly starting: JsonObject;
  readonly random: Random;
}

/** Edits a pod. */
export type Change = (subject: Subject) => void;

const small = `
metadata: {labels: {logs: "on"}}
spec:
  containers:
  - {name: logger, image: "registry.example.com/logger:1", ports: [{containerPort: 9000, name: logs}]}
`;

/** Returns injectors with Istio's templates, and one with a small template. */
function injectors(): Injector[] {
  const { texts } = istioTexts();
  const modes = ['Enabled', 'Disabled'].map((nativeSidecars) => ({ ...texts, settings: { nativeSidecars } }));
  const config = JSON.stringify({ policy: 'enabled', defaultTemplates: ['s'], templates: { s: small } });
  return [...modes, { config, values: '', mesh: '', settings: {} }].map(({ settings, ...files }) =>
    loadInjector({ ...files, settings: JSON.stringify(settings) }),
  );
}

/** Adds an item to a list. */
export function add(owner: JsonObject, list: string, ...items: readonly unknown[]): void {
  owner[list] = [...listOf(owner[list]), ...items];
}

/** Returns the object in a member, which it creates if it is missing. */
export function part(owner: JsonObject, name: string): JsonObject {
  const own = { ...objectAt(owner, [name]) };
  owner[name] = own;
  return own;
}

function subjectOf(pod: JsonObject, random: Random): Subject {
  const spec = objectAt(pod, ['spec']);
  const name = (prefix: string): string => `${prefix}-${random.below(1e6)}`;
  if (random.chance(0.5)) add(spec, 'initContainers', { name: name('starts'), image: 'registry.example.com/init:1' });
  const all = [...listOf(spec.containers), ...listOf(spec.initContainers)];
  const isNative = ({ restartPolicy }: JsonObject): boolean => restartPolicy === 'Always';
  const starting = listOf(spec.initContainers).find((container) => !isNative(container));
  const running = random.pick([...listOf(spec.containers), ...listOf(spec.initContainers).filter(isNative)]);
  const subject = { pod, spec, container: random.pick(all), running, random };
  if (starting !== undefined) return { ...subject, starting };
  const added: JsonObject = { name: name('starts'), image: 'registry.example.com/init:1' };
  return { ...subject, starting: added };
}

/** Returns a function that makes injected pods, which are valid before the mistakes. */
export function podMaker(namespace: string, random: Random): (mistakes: readonly Change[]) => JsonObject {
  const all = injectors();
  let index = 0;
  return (mistakes) => {
    const { pod } = typicalPod('sidecar.istio.io/inject', (index += 1));
    const result = inject(random.pick(all), { pod, namespace, path: '/inject' });
    if (result.outcome !== 'injected') throw new Error(`a typical pod was not injected: ${JSON.stringify(result)}`);
    const made = structuredClone(result.pod);
    made.metadata = { ...objectAt(made, ['metadata']), namespace };
    const count = random.below(6);
    for (const change of Array.from({ length: count }, () => random.pick(additions))) change(subjectOf(made, random));
    for (const change of mistakes) change(subjectOf(made, random));
    return made;
  };
}

const source = (name: string): JsonObject => ({ valueFrom: { fieldRef: { fieldPath: name } } });

/** Valid additions, many of them close to what is invalid. */
const additions: readonly Change[] = [
  ({ container, random }) => {
    add(container, 'env', { name: `a b.${random.below(9)}-{}`, value: '' }, { name: 'A', ...source('status.podIPs') });
    add(container, 'env', { name: 'B', ...source("metadata.annotations['a.b/C']") });
    const secretKeyRef = { name: 'some.secret', key: 'a..b' };
    add(container, 'env', { name: 'C', value: '', valueFrom: { secretKeyRef } });
    const resourceFieldRef = { resource: 'limits.memory', divisor: '1Mi' };
    add(container, 'env', { name: 'D', valueFrom: { resourceFieldRef } });
  },
  ({ container }) => {
    add(
      container,
      'envFrom',
      { prefix: '1 ', configMapRef: { name: 'a-' } },
      { secretRef: { name: 'b', optional: true } },
    );
  },
  ({ container, random }) => {
    const port = 20_000 + random.below(20_000);
    add(container, 'ports', { containerPort: port, name: `p-${port}`, protocol: random.pick(['TCP', 'UDP', 'SCTP']) });
    add(
      container,
      'ports',
      { containerPort: 65_535 },
      { containerPort: port + 1, hostPort: port, hostIP: '127.0.0.1' },
    );
  },
  ({ container, spec, random }) => {
    const name = `v${random.below(1e6)}`;
    add(spec, 'volumes', { name, ...random.pick(volumeSources) });
    add(container, 'volumeMounts', { name, mountPath: `/${name}`, subPathExpr: '..$(A)', readOnly: true });
    add(container, 'volumeMounts', { name, mountPath: `/${name}/`, mountPropagation: 'HostToContainer' });
  },
  ({ container, random }) => {
    container.resources = random.pick<JsonObject>([
      { requests: { cpu: '1000m', memory: '1Gi' }, limits: { cpu: '1', memory: '1024Mi' } },
      { requests: { cpu: 0 }, limits: { cpu: '0.0' } },
      { limits: { 'example.com/gpu': 2, cpu: '1' }, requests: { 'example.com/gpu': '2000m' } },
      { limits: { 'hugepages-2Mi': '4Mi', memory: '100M' }, requests: { memory: '100000k' } },
      { requests: { 'ephemeral-storage': '1.5Gi', memory: '1e3' } },
    ]);
  },
  ({ running, random }) => {
    running[random.pick(['livenessProbe', 'startupProbe'])] = {
      ...random.pick(handlers),
      ...{ initialDelaySeconds: 0, successThreshold: 1, terminationGracePeriodSeconds: 1 },
    };
    running.readinessProbe = { ...random.pick(handlers), successThreshold: 3, timeoutSeconds: 0 };
  },
  ({ running, random }) => {
    const hook = random.pick(handlers.filter(({ grpc }) => grpc === undefined));
    running.lifecycle = { preStop: { sleep: { seconds: 30 } }, postStart: hook };
  },
  ({ container, random }) => {
    const added = { drop: ['ALL'], add: ['NET_ADMIN', 'SYS_ADMIN'] };
    const localhost = { type: 'Localhost', localhostProfile: 'profiles/a.json' };
    const seccompProfile = random.pick([localhost, { type: 'RuntimeDefault' }]);
    container.securityContext = { runAsUser: 0, runAsGroup: 2 ** 31 - 1, capabilities: added, seccompProfile };
  },
  ({ container, spec, random }) => {
    container.resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }];
    container.imagePullPolicy = random.pick(['Always', 'IfNotPresent', 'Never', '']);
    container.image = random.pick(['registry.example.com/a b', 'UPPER', 'auto', '<no value>']);
    spec.activeDeadlineSeconds = 2 ** 31 - 1;
    spec.preemptionPolicy = 'PreemptLowerPriority';
  },
  ({ spec }) => {
    add(
      spec,
      'tolerations',
      { operator: 'Exists' },
      { key: 'a/b', value: 'c', effect: 'NoExecute', tolerationSeconds: -1 },
    );
    add(spec, 'tolerations', { key: 'A', operator: 'Equal' });
    spec.nodeSelector = { 'kubernetes.io/os': 'linux', empty: '' };
    add(spec, 'hostAliases', { ip: '::1', hostnames: ['a.b'] }, { ip: '10.0.0.1' });
    spec.dnsConfig = { nameservers: ['fe80::1'], searches: ['a_b.c', '.', 'svc.'], options: [{ name: 'ndots' }] };
  },
  ({ spec }) => {
    spec.dnsPolicy = 'None';
    spec.dnsConfig = { nameservers: ['10.0.0.10'] };
    spec.terminationGracePeriodSeconds = 30;
    const labelSelector = { matchLabels: { a: '' } };
    const spread = { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule', minDomains: 1, labelSelector };
    spec.topologySpreadConstraints = [spread];
  },
  ({ spec }) => {
    spec.securityContext = { fsGroup: 0, supplementalGroups: [1], fsGroupChangePolicy: 'OnRootMismatch' };
    spec.resources = { requests: { cpu: '1000', memory: '1Ti' }, limits: { cpu: '1000', memory: '1Ti' } };
  },
  ({ pod }) => {
    const metadata = part(pod, 'metadata');
    metadata.annotations = { ...objectAt(metadata, ['annotations']), 'a.b/C_d': 'é\n', X: '<no value>' };
    metadata.labels = { ...objectAt(metadata, ['labels']), 'A.b_c': 'x'.repeat(63), e: '' };
  },
];

const file = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' }, mode: 0 };
const limit = { path: 'a/b', resourceFieldRef: { containerName: 'none', resource: 'requests.cpu', divisor: '1m' } };
const volumeSources: readonly JsonObject[] = [
  {},
  { emptyDir: { medium: 'Memory', sizeLimit: '0' } },
  { hostPath: { path: '/a..b', type: '' } },
  { hostPath: { path: 'relative', type: 'DirectoryOrCreate' } },
  { secret: { secretName: 'Not A Name', defaultMode: 0, items: [{ key: 'a', path: 'b/..c', mode: 511 }] } },
  { configMap: { name: 'a', optional: true } },
  { persistentVolumeClaim: { claimName: 'a' } },
  { csi: { driver: 'a.b', volumeAttributes: { a: 'b' } } },
  { downwardAPI: { items: [file, limit] } },
  {
    projected: {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { path: 'token', audience: 'a', expirationSeconds: 600 } },
        { secret: { name: 'a', items: [{ key: 'a', path: 'a' }] } },
        { downwardAPI: { items: [file] } },
      ],
    },
  },
];
const handlers: readonly JsonObject[] = [
  { exec: { command: ['a'] } },
  { httpGet: { port: 1, path: '', httpHeaders: [{ name: 'X-A', value: '' }], scheme: 'HTTPS' } },
  { httpGet: { port: 'http-1a' } },
  { tcpSocket: { port: 65_535 } },
  { grpc: { port: 1, service: '' } },
];
