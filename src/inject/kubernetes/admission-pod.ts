import { objectAt } from '../objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

const timestamps = ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'];
/** Metadata that the API server sets and a create request does not contain. */
const serverFields = new Set([...timestamps, 'uid', 'resourceVersion', 'generation', 'managedFields', 'selfLink']);

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/**
 * Returns a pod as webhooks receive it. Sets the namespace, and the defaults of the API server and
 * of its ServiceAccount plugin. Omits the fields that only stored pods have.
 */
export function admissionPod(pod: JsonObject, namespace: string): JsonObject {
  const spec = objectAt(pod, ['spec']);
  const isMirror = Object.hasOwn(objectAt(pod, ['metadata', 'annotations']), mirrorAnnotation);
  const account = textOf(spec.serviceAccountName) ?? textOf(spec.serviceAccount) ?? 'default';
  const volumes = listOf(spec.volumes);
  const hasToken = isMirror || spec.automountServiceAccountToken === false || tokenVolumeOf(spec) !== undefined;
  const token = { name: `${tokenVolumePrefix}00000`, projected: { defaultMode: 0o644, sources: [] } };
  return withServerDefaults({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...creatableMetadata(pod), namespace },
    spec: {
      ...spec,
      ...(isMirror ? {} : { serviceAccountName: account, serviceAccount: account }),
      ...(hasToken ? {} : { volumes: [...volumes, token] }),
    },
    status: {},
  });
}

/** Returns a pod's metadata without the fields that only a stored pod has. */
export function creatableMetadata(pod: JsonObject): JsonObject {
  const metadata = Object.entries(objectAt(pod, ['metadata']));
  return Object.fromEntries(metadata.filter(([name]) => !serverFields.has(name)));
}

/**
 * Sets the defaults that the API server sets on a pod when it decodes it and after each webhook
 * (k8s.io/kubernetes/pkg/apis/core/v1, SetObjectDefaults_Pod). Also adds the mounts of the token
 * volume, as the ServiceAccount plugin does when it runs again after webhooks.
 */
export function withServerDefaults(pod: JsonObject): JsonObject {
  const source = objectAt(pod, ['spec']);
  const hostNetwork = source.hostNetwork === true;
  const tokenVolume = tokenVolumeOf(source);
  const containers = (list: unknown): JsonObject[] =>
    listOf(list).map((container) => containerWithDefaults(container, hostNetwork, tokenVolume));
  const spec: JsonObject = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
    ...source,
    containers: containers(source.containers),
  };
  if (source.initContainers !== undefined) spec.initContainers = containers(source.initContainers);
  return withVolumeDefaults({ ...pod, spec });
}

/** Sets the defaults that the API server sets on volumes. */
export function withVolumeDefaults(pod: JsonObject): JsonObject {
  const spec = objectAt(pod, ['spec']);
  if (spec.volumes === undefined) return pod;
  return { ...pod, spec: { ...spec, volumes: listOf(spec.volumes).map(volumeWithDefaults) } };
}

const tokenVolumePrefix = 'kube-api-access-';
const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';

function tokenVolumeOf({ volumes }: JsonObject): string | undefined {
  return listOf(volumes)
    .map(({ name }) => textOf(name))
    .find((name) => name?.startsWith(tokenVolumePrefix));
}

function containerWithDefaults(source: JsonObject, hostNetwork: boolean, tokenVolume: string | undefined): JsonObject {
  const container: JsonObject = {
    imagePullPolicy: pullPolicy(textOf(source.image) ?? ''),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...source,
  };
  const { requests, limits } = objectAt(container, ['resources']);
  if (isJsonObject(limits))
    container.resources = { ...objectAt(container, ['resources']), requests: { ...limits, ...objectOf(requests) } };
  if (source.ports !== undefined) {
    container.ports = listOf(source.ports).map((port) => ({
      protocol: 'TCP',
      ...(hostNetwork && port.hostPort === undefined ? { hostPort: port.containerPort } : {}),
      ...port,
    }));
  }
  if (source.env !== undefined) container.env = listOf(source.env).map(variableWithDefaults);
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'])
    if (isJsonObject(source[name])) container[name] = { ...probeDefaults, ...handlerWithDefaults(source[name]) };
  if (isJsonObject(source.lifecycle)) container.lifecycle = mapMembers(source.lifecycle, handlerWithDefaults);
  const mounts = listOf(source.volumeMounts);
  if (tokenVolume !== undefined && !mounts.some(({ mountPath }) => mountPath === tokenPath))
    container.volumeMounts = [...mounts, { mountPath: tokenPath, name: tokenVolume, readOnly: true }];
  return container;
}

const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

function handlerWithDefaults(handler: JsonObject): JsonObject {
  const { httpGet, grpc } = handler;
  if (isJsonObject(httpGet)) return { ...handler, httpGet: { path: '/', scheme: 'HTTP', ...httpGet } };
  return isJsonObject(grpc) ? { ...handler, grpc: { ...grpc, service: grpc.service ?? '' } } : handler;
}

function variableWithDefaults(variable: JsonObject): JsonObject {
  return isJsonObject(variable.valueFrom) ? { ...variable, valueFrom: withFieldVersion(variable.valueFrom) } : variable;
}

/** Sets the version of a `fieldRef`, which environment variables and downward API volumes have. */
function withFieldVersion(source: JsonObject): JsonObject {
  return isJsonObject(source.fieldRef) ? { ...source, fieldRef: { apiVersion: 'v1', ...source.fieldRef } } : source;
}

function volumeWithDefaults(volume: JsonObject): JsonObject {
  if (Object.keys(volume).length === 1) return { ...volume, emptyDir: {} };
  return mapMembers(volume, (source, name) => {
    if (name === 'hostPath') return { type: '', ...source };
    if (name === 'secret' || name === 'configMap') return { defaultMode: 0o644, ...source };
    if (name === 'downwardAPI') return { defaultMode: 0o644, ...withItemVersions(source) };
    if (name !== 'projected') return source;
    const sources = listOf(source.sources).map((each) => mapMembers(each, projectionWithDefaults));
    return { defaultMode: 0o644, ...source, sources };
  });
}

function projectionWithDefaults(projection: JsonObject, name: string): JsonObject {
  if (name === 'serviceAccountToken') return { expirationSeconds: 3600, ...projection };
  return name === 'downwardAPI' ? withItemVersions(projection) : projection;
}

function withItemVersions(source: JsonObject): JsonObject {
  return source.items === undefined ? source : { ...source, items: listOf(source.items).map(withFieldVersion) };
}

/** Changes the members that are objects. */
function mapMembers(object: JsonObject, change: (value: JsonObject, name: string) => JsonObject): JsonObject {
  const entries = Object.entries(object);
  return Object.fromEntries(entries.map(([name, value]) => [name, isJsonObject(value) ? change(value, name) : value]));
}

/** Returns `Always` if the image has the tag `latest`, or neither a tag nor a digest. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  const [, tag = 'latest'] = name.split(':');
  return tag === 'latest' && !name.includes('@') ? 'Always' : 'IfNotPresent';
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the objects in a list; none if there is no list. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
