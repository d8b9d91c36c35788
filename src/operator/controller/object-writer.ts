import { createHash } from 'node:crypto';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient, ObjectKey } from '../../kube/api-client.ts';
import { ignoreNotFound } from '../../kube/api-error.ts';
import { ObjectApplier, type ObjectApplierOptions } from '../../kube/apply-object.ts';
import { objectKey } from '../../kube/object-store.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { OperatorMetrics } from '../ports.ts';
import { fieldManager } from '../settings.ts';
import type { ObjectWrite } from './owned-objects.ts';

export interface ObjectWriterOptions extends Pick<ObjectApplierOptions, 'clock'> {
  readonly client: ObjectApplierOptions['client'] & Pick<ApiClient, 'list'>;
  readonly view: ClusterView;
  readonly metrics: OperatorMetrics;
}

/**
 * Writes and deletes our objects of any kind. Remembers a digest of each object's last desired
 * state, to distinguish updates from repairs. Adds written objects to the view.
 */
export class ObjectWriter {
  readonly #options: ObjectWriterOptions;
  readonly #applier: ObjectApplier;
  readonly #lastDesired = new Map<string, string>();

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
    this.#applier = new ObjectApplier({ ...options, fieldManager });
  }

  /** Applies the desired state of one object. */
  async apply(desired: KubernetesObject, signal: AbortSignal): Promise<ObjectWrite> {
    const { view, metrics } = this.#options;
    const live = view.live(desired);
    const key = keyOf(desired);
    const desiredDigest = digest({ ...desired, metadata: { ...desired.metadata, resourceVersion: undefined } });
    const isRepeated = this.#lastDesired.get(key) === desiredDigest;
    const applied = await this.#applier.apply(desired, live, signal, isRepeated);
    metrics.applied?.(desired.kind, applied.outcome);
    this.#lastDesired.set(key, desiredDigest);
    if (['Deferred', 'Unchanged'].includes(applied.outcome)) return { ...applied, isRepair: false };
    view.storeOf(desired.kind).upsert(applied.object);
    return { ...applied, isRepair: isRepeated };
  }

  /**
   * Deletes one object if it exists. Resolves with the object if it remains, because of a
   * finalizer or because another client recreated it; otherwise removes the object from the view.
   */
  async remove(object: KubernetesObject, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const { client, view } = this.#options;
    this.#lastDesired.delete(keyOf(object));
    if (object.metadata.deletionTimestamp === undefined) {
      await client.delete(object, { uid: object.metadata.uid, signal }).catch(ignoreNotFound);
    }
    const remaining = await this.read(object, signal);
    const store = view.storeOf(object.kind);
    // The watch may lag. An object without our labels must not enter a store that excludes it.
    if (remaining === undefined) store.remove(object);
    else if (view.live(object) !== undefined) store.upsert(remaining);
    return remaining;
  }

  /** Reads one object from the API server with a list, which needs no permission for `get`. */
  async read(like: ObjectKey, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const { name = '', namespace } = like.metadata;
    const resource = resourceKind(like.apiVersion, like.kind);
    const fieldSelector = `metadata.name=${name}`;
    const { items } = await this.#options.client.list(resource, { namespace, fieldSelector, signal });
    return items[0];
  }
}

function digest(object: unknown): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('hex');
}

function keyOf(object: KubernetesObject): string {
  return `${object.kind}/${objectKey(object)}`;
}
