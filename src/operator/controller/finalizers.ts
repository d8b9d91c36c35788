import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { finalizer } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { ClusterView } from '../cluster-view.ts';

/** Whether an InjectorConfig waits for us before it may go. */
export function hasFinalizer(object: KubernetesObject): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

interface Writing {
  readonly client: Pick<ApiClient, 'patch'>;
  readonly view: ClusterView;
}

/** Without it a deletion would leave a webhook that nobody answers; so it is there before anything else is. */
export function holdFinalizer(
  writing: Writing,
  object: KubernetesObject,
  signal: AbortSignal,
): Promise<KubernetesObject> {
  if (hasFinalizer(object)) return Promise.resolve(object);
  return setFinalizers(writing, object, [...(object.metadata.finalizers ?? []), finalizer], signal);
}

/** Nothing is left: the object may go. */
export async function releaseFinalizer(writing: Writing, object: KubernetesObject, signal: AbortSignal): Promise<void> {
  const others = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  await setFinalizers(writing, object, others, signal);
}

/** Onto the version that was read: others add and remove finalizers too. */
async function setFinalizers(
  { client, view }: Writing,
  object: KubernetesObject,
  finalizers: string[],
  signal: AbortSignal,
): Promise<KubernetesObject> {
  const { resourceVersion } = object.metadata;
  const written = await client.patch(object, 'merge', { metadata: { finalizers, resourceVersion } }, { signal });
  // Being deleted and without finalizers it is gone now; the watch says so.
  if (written.metadata.deletionTimestamp === undefined) view.configs.upsert(written);
  return written;
}
