import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { finalizer } from '../../api/labels.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { ClusterView } from '../cluster-view.ts';

/** Whether an InjectorConfig waits for us before it may go. */
export function hasFinalizer(object: KubernetesObject): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** Puts our finalizer on an InjectorConfig and takes it off. */
export class Finalizers {
  readonly #client: Pick<ApiClient, 'patch'>;
  readonly #view: ClusterView;

  constructor(client: Pick<ApiClient, 'patch'>, view: ClusterView) {
    this.#client = client;
    this.#view = view;
  }

  /** Without it a deletion would leave a webhook that nobody answers; so it is there before anything else is. */
  async hold(object: KubernetesObject, signal: AbortSignal): Promise<KubernetesObject> {
    if (hasFinalizer(object)) return object;
    return this.#set(object, [...(object.metadata.finalizers ?? []), finalizer], signal);
  }

  /** Nothing is left: the object may go. */
  async release(object: KubernetesObject, signal: AbortSignal): Promise<void> {
    const others = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
    await this.#set(object, others, signal);
  }

  /** Onto the version that was read: others add and remove finalizers too. */
  async #set(object: KubernetesObject, finalizers: string[], signal: AbortSignal): Promise<KubernetesObject> {
    const { resourceVersion } = object.metadata;
    const written = await this.#client.patch(
      object,
      'merge',
      { metadata: { finalizers, resourceVersion } },
      { signal },
    );
    // Being deleted and without finalizers it is gone now; the watch says so.
    if (written.metadata.deletionTimestamp === undefined) this.#view.configs.upsert(written);
    return written;
  }
}
