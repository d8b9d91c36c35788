import { objectAt } from '../inject/objects/workload-kinds.ts';
import {
  listOf,
  textOf,
  tokenVolumeOf,
  tokenVolumePrefix,
  withServerDefaults,
} from '../inject/kubernetes/server-defaults.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';

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
