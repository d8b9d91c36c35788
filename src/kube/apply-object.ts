import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from './api-client.ts';
import { ApiError, isConflict } from './api-error.ts';
import { objectDifference } from './object-difference.ts';
import { objectKey } from './object-store.ts';
import type { Clock } from './ports.ts';

export interface ObjectApplierOptions {
  client: Pick<ApiClient, 'apply' | 'create' | 'replace' | 'delete'>;
  /** Under which name the API server records what is ours. */
  fieldManager: string;
  clock: Clock;
}

/** A field that somebody else manages and that we took back, or would take back. */
export interface ForeignField {
  manager: string;
  field: string;
}

export interface AppliedObject {
  outcome: 'Unchanged' | 'Created' | 'Updated' | 'Recreated' | 'Deferred';
  /** As it is in the API server now; for `Deferred` as it was found. */
  object: KubernetesObject;
  /** The first field that differed. */
  difference: string | undefined;
  foreign: ForeignField[];
  /** For `Deferred`: milliseconds after which it may be tried again. */
  retryAfter?: number;
}

type Findings = Pick<AppliedObject, 'difference' | 'foreign'>;

/** Of every write of one object. */
interface How {
  readonly fieldManager: string;
  readonly signal: AbortSignal | undefined;
}

/** Against a writer who undoes what we do, each object is taken back at most this often, in milliseconds. */
const forceIntervalMs = 1000;

/** Kinds whose objects may have to be made anew. Never a webhook configuration: without it pods start plain. */
const kindsWithImmutableFields = new Set(['ConfigMap', 'Secret', 'Service']);

/**
 * Makes objects what they should be with as few writes as can be: none when the live object is as wanted; a server-side apply without force,
 * which tells who else manages a field; then with force. Where an apply cannot succeed (an item of a list that another manager keeps alive
 * without its required fields, or an immutable field) the object is replaced or made anew.
 */
export class ObjectApplier {
  readonly #options: ObjectApplierOptions;
  readonly #forcedAt = new Map<string, number>();
  /** Objects that differ still after everything was tried, and at which version: a newer API server may fill in fields that we do not know. */
  readonly #accepted = new Map<string, { resourceVersion: string | undefined; wanted: string }>();

  constructor(options: ObjectApplierOptions) {
    this.#options = options;
  }

  /**
   * `live` is the object as last seen, if it was there. Rejects with {@link ApiError} when the API server does.
   * @param isRepair the same was wanted before: another writer has changed it, and the next write waits, whether or not that one manages a field
   */
  async apply(
    desired: KubernetesObject,
    live: KubernetesObject | undefined,
    signal?: AbortSignal,
    isRepair = false,
  ): Promise<AppliedObject> {
    const { fieldManager } = this.#options;
    const isNew = live === undefined;
    const difference =
      isNew || this.#isAccepted(desired, live) ? undefined : objectDifference(desired, live, fieldManager);
    const found: Findings = { difference, foreign: [] };
    if (!isNew && difference === undefined) return { ...found, outcome: 'Unchanged', object: live };
    const wait = this.#mustWait(desired);
    if (wait > 0) return { ...found, outcome: 'Deferred', object: live ?? desired, retryAfter: wait };
    const how = { fieldManager, signal };
    try {
      const applied = await this.#write(desired, found, how, isRepair);
      const object = await this.#settle(desired, applied, how);
      return { ...found, outcome: isNew ? 'Created' : 'Updated', object };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 422 || isNew) throw error;
      this.#noteForce(desired);
      return { ...found, ...(await this.#replaceInvalid(desired, live, how)) };
    }
  }

  /** Without force, which tells who else manages a field, then with force. */
  async #write(desired: KubernetesObject, found: Findings, how: How, isRepair: boolean): Promise<KubernetesObject> {
    const { client } = this.#options;
    try {
      const object = await client.apply(desired, how);
      if (isRepair) this.#noteForce(desired);
      return object;
    } catch (error) {
      const foreign = foreignFields(error, how.fieldManager);
      if (foreign === undefined) throw error;
      found.foreign = foreign;
      if (foreign.length > 0) this.#noteForce(desired);
      return await client.apply(desired, { ...how, force: true });
    }
  }

  /** An apply leaves what others added to our lists; what must be exactly ours is then replaced as a whole. */
  async #settle(desired: KubernetesObject, applied: KubernetesObject, how: How): Promise<KubernetesObject> {
    if (objectDifference(desired, applied, how.fieldManager) === undefined) return applied;
    this.#noteForce(desired);
    const object = await this.#replace(desired, applied, how);
    if (objectDifference(desired, object, how.fieldManager) !== undefined) {
      const wanted = JSON.stringify(desired);
      this.#accepted.set(keyOf(desired), { resourceVersion: object.metadata.resourceVersion, wanted });
    }
    return object;
  }

  #isAccepted(desired: KubernetesObject, live: KubernetesObject): boolean {
    const accepted = this.#accepted.get(keyOf(desired));
    if (accepted === undefined) return false;
    const isSame =
      accepted.resourceVersion === live.metadata.resourceVersion && accepted.wanted === JSON.stringify(desired);
    if (!isSame) this.#accepted.delete(keyOf(desired));
    return isSame;
  }

  async #replaceInvalid(
    desired: KubernetesObject,
    live: KubernetesObject,
    how: How,
  ): Promise<Pick<AppliedObject, 'outcome' | 'object'>> {
    try {
      return { outcome: 'Updated', object: await this.#replace(desired, live, how) };
    } catch (error) {
      if (!(error instanceof ApiError) || !isImmutable(desired, error)) throw error;
      return { outcome: 'Recreated', object: await this.#recreate(desired, live, how) };
    }
  }

  /** With the resourceVersion that was read: somebody's newer write makes it a Conflict, which is tried again later. */
  #replace(desired: KubernetesObject, live: KubernetesObject, how: How): Promise<KubernetesObject> {
    return this.#options.client.replace(overlay(desired, live), how);
  }

  /** What the API server would not take is not a reason to delete what is there. */
  async #recreate(desired: KubernetesObject, live: KubernetesObject, how: How): Promise<KubernetesObject> {
    const { client } = this.#options;
    try {
      await client.create(desired, { ...how, dryRun: true });
    } catch (error) {
      // A create is validated before its name is looked up: of one that is valid the API server says only that it exists.
      if (!isConflict(error) || error.reason !== 'AlreadyExists') throw error;
    }
    await client.delete(live, { uid: live.metadata.uid, signal: how.signal });
    return client.apply(desired, { ...how, force: true });
  }

  #mustWait(object: KubernetesObject): number {
    const forcedAt = this.#forcedAt.get(keyOf(object));
    return forcedAt === undefined ? 0 : Math.max(0, forcedAt + forceIntervalMs - this.#options.clock.monotonic());
  }

  #noteForce(object: KubernetesObject): void {
    this.#forcedAt.set(keyOf(object), this.#options.clock.monotonic());
  }
}

function keyOf(object: KubernetesObject): string {
  return `${object.kind}/${objectKey(object)}`;
}

/** The desired object laid over the live one: what others keep in metadata, and what the API server filled in, stays. */
function overlay(desired: KubernetesObject, live: KubernetesObject): KubernetesObject {
  const { labels, annotations, ownerReferences } = desired.metadata;
  const owners = live.metadata.ownerReferences ?? [];
  const ours = (ownerReferences ?? []).filter(({ uid }) => !owners.some((owner) => owner.uid === uid));
  return {
    ...live,
    ...desired,
    metadata: {
      ...live.metadata,
      labels: { ...live.metadata.labels, ...labels },
      annotations: { ...live.metadata.annotations, ...annotations },
      ownerReferences: [...owners, ...ours],
    },
    ...(typeof desired.spec === 'object' ? { spec: { ...(live.spec as object | undefined), ...desired.spec } } : {}),
  };
}

/**
 * Who else manages the fields of an apply that was refused, from the causes of the Conflict; undefined when it is another kind of error.
 * An earlier replace of our own counts as another manager for the API server, not for us.
 */
function foreignFields(error: unknown, fieldManager: string): ForeignField[] | undefined {
  if (!isConflict(error) || !error.causes.some(({ reason }) => reason === 'FieldManagerConflict')) return undefined;
  return error.causes.flatMap(({ message = '', field = '' }) => {
    const manager = /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? message;
    return manager === fieldManager ? [] : [{ manager, field }];
  });
}

/**
 * Kubernetes' validation says so in words only, at the end of a cause (`Invalid value: "x": field is immutable`, or `Forbidden: field is
 * immutable when …`). The message of the whole error is no evidence: it carries the object's name and text of its author.
 */
function isImmutable(desired: KubernetesObject, error: ApiError): boolean {
  if (error.code !== 422 || !kindsWithImmutableFields.has(desired.kind)) return false;
  return error.causes.some(({ message = '' }) =>
    /: field is immutable$|^Forbidden: field is immutable when /.test(message),
  );
}
