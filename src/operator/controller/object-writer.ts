import { createHash } from 'node:crypto';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ignoreNotFound } from '../../kube/api-error.ts';
import { type AppliedObject, ObjectApplier, type ObjectApplierOptions } from '../../kube/apply-object.ts';
import { objectKey } from '../../kube/object-store.ts';
import type { ObjectKey } from '../../kube/request-options.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { OperatorMetrics } from '../ports.ts';
import { fieldManager } from '../settings.ts';
import type { WriteOutcome } from './owned-objects.ts';

export interface ObjectWriterOptions extends Pick<ObjectApplierOptions, 'clock'> {
  readonly client: ObjectApplierOptions['client'] & Pick<ApiClient, 'list'>;
  readonly view: ClusterView;
  readonly metrics: OperatorMetrics;
}

/**
 * Writes and removes our objects of any kind. Remembers (by digest) what it wanted last of each, which tells an edit of ours from a repair of somebody else's;
 * and puts what the API server answered into the view at once, so that nothing is written twice.
 */
export class ObjectWriter {
  readonly #options: ObjectWriterOptions;
  readonly #applier: ObjectApplier;
  readonly #wanted = new Map<string, string>();

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
    this.#applier = new ObjectApplier({ ...options, fieldManager });
  }

  /** Makes one object what it should be. */
  async apply(desired: KubernetesObject, into: WriteOutcome, signal: AbortSignal): Promise<AppliedObject> {
    const { view, metrics } = this.#options;
    const live = view.live(desired);
    const key = keyOf(desired);
    const wanted = digest({ ...desired, metadata: { ...desired.metadata, resourceVersion: undefined } });
    const isRepeated = this.#wanted.get(key) === wanted;
    const applied = await this.#applier.apply(desired, live, signal, isRepeated);
    metrics.applied?.(desired.kind, applied.outcome);
    this.#wanted.set(key, wanted);
    if (applied.outcome === 'Deferred') {
      into.retryAfter = Math.min(into.retryAfter ?? Infinity, applied.retryAfter ?? 1000);
      return applied;
    }
    if (applied.outcome === 'Unchanged') return applied;
    view.storeOf(desired.kind).upsert(applied.object);
    into.foreign.push(...applied.foreign);
    if (isRepeated) into.repairs.push(applied);
    return applied;
  }

  /**
   * Removes one object; that it is gone already is as good. Resolves with the object if it is still there: a finalizer of somebody else holds it,
   * or it has been made again. Only what is really gone leaves the view.
   */
  async remove(object: KubernetesObject, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const { client, view } = this.#options;
    this.#wanted.delete(keyOf(object));
    if (object.metadata.deletionTimestamp === undefined) {
      await client.delete(object, { uid: object.metadata.uid, signal }).catch(ignoreNotFound);
    }
    const left = await this.read(object, signal);
    const store = view.storeOf(object.kind);
    // The watch may be behind; and what it does not follow (without our labels) must not be put where nobody would take it out again.
    if (left === undefined) store.remove(object);
    else if (view.live(object) !== undefined) store.upsert(left);
    return left;
  }

  /** One object as it is in the API server. A list of one, since the right to get is not needed for anything else. */
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
