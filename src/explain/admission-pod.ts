import { objectAt } from '../inject/objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../inject/patch/json-value.ts';

const timestamps = ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'];
/** Metadata that the API server sets and a create request does not contain. */
const serverFields = new Set([...timestamps, 'uid', 'resourceVersion', 'generation', 'managedFields', 'selfLink']);

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/**
 * Returns a pod as webhooks receive it. Sets the namespace, and those defaults of the API server
 * (k8s.io/kubernetes/pkg/apis/core/v1/defaults.go) and of the ServiceAccount plugin that
 * matchConditions and templates commonly read. Omits the fields that only stored pods have.
 */
export function admissionPod(pod: JsonObject, namespace: string): JsonObject {
  const isMirror = Object.hasOwn(objectAt(pod, ['metadata', 'annotations']), mirrorAnnotation);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...creatableMetadata(pod), namespace },
    spec: withDefaults(objectAt(pod, ['spec']), isMirror),
    status: {},
  };
}

/** Returns a pod's metadata without the fields that only a stored pod has. */
export function creatableMetadata(pod: JsonObject): JsonObject {
  const metadata = Object.entries(objectAt(pod, ['metadata']));
  return Object.fromEntries(metadata.filter(([name]) => !serverFields.has(name)));
}

/** @param isMirror whether this is a mirror pod, which the ServiceAccount plugin skips */
function withDefaults(source: JsonObject, isMirror: boolean): JsonObject {
  const hostNetwork = source.hostNetwork === true;
  const account = textOf(source.serviceAccountName) ?? textOf(source.serviceAccount) ?? 'default';
  const volumes = listOf(source.volumes);
  const tokenVolume =
    isMirror ||
    source.automountServiceAccountToken === false ||
    volumes.some(({ name }) => textOf(name)?.startsWith('kube-api-access-'))
      ? undefined
      : { name: 'kube-api-access-00000', projected: { defaultMode: 0o644, sources: [] } };
  const containers = (list: unknown): JsonObject[] =>
    listOf(list).map((container) => containerWithDefaults(container, hostNetwork, tokenVolume?.name));
  const spec: JsonObject = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
    ...source,
    ...(isMirror ? {} : { serviceAccountName: account, serviceAccount: account }),
    containers: containers(source.containers),
  };
  if (source.initContainers !== undefined) spec.initContainers = containers(source.initContainers);
  if (tokenVolume !== undefined) spec.volumes = [...volumes, tokenVolume];
  return spec;
}

function containerWithDefaults(source: JsonObject, hostNetwork: boolean, tokenVolume: string | undefined): JsonObject {
  const container: JsonObject = {
    imagePullPolicy: pullPolicy(textOf(source.image) ?? ''),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...source,
  };
  if (source.ports !== undefined) {
    container.ports = listOf(source.ports).map((port) => ({
      protocol: 'TCP',
      ...(hostNetwork && port.hostPort === undefined ? { hostPort: port.containerPort } : {}),
      ...port,
    }));
  }
  const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
  const mounts = listOf(source.volumeMounts);
  if (tokenVolume !== undefined && !mounts.some(({ mountPath }) => mountPath === tokenPath)) {
    container.volumeMounts = [...mounts, { mountPath: tokenPath, name: tokenVolume, readOnly: true }];
  }
  return container;
}

/** Returns `Always` if the image has the tag `latest`, or neither a tag nor a digest. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  const [, tag = 'latest'] = name.split(':');
  return tag === 'latest' && !name.includes('@') ? 'Always' : 'IfNotPresent';
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
