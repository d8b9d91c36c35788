import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from './api-client.ts';
import { ApiError, isConflict } from './api-error.ts';
import { objectDifference } from './object-difference.ts';
import { objectKey } from './object-store.ts';
import type { Clock } from './ports.ts';

export interface ObjectApplierOptions {
  client: Pick<ApiClient, 'apply' | 'create' | 'replace' | 'delete'>;
  /** The field manager under which the API server records our fields. */
  fieldManager: string;
  clock: Clock;
}

/** A field that another manager also sets, and that a forced apply takes back. */
interface ForeignField {
  manager: string;
  field: string;
}

export interface AppliedObject {
  outcome: 'Unchanged' | 'Created' | 'Updated' | 'Recreated' | 'Deferred';
  /** The stored object, or for `Deferred` the live object that was read. */
  object: KubernetesObject;
  /** The path of the first field that differed. */
  difference: string | undefined;
  foreign: ForeignField[];
  /** The wait before the next attempt, in milliseconds, if the outcome is `Deferred`. */
  retryAfter?: number;
}

type Findings = Pick<AppliedObject, 'difference' | 'foreign'>;

interface Write {
  readonly fieldManager: string;
  readonly signal: AbortSignal | undefined;
}

/** The minimum time between two forced writes of one object, in milliseconds. */
const forceIntervalMs = 1000;

/** Kinds that may be recreated. Never webhooks: without a webhook, pods start uninjected. */
const kindsWithImmutableFields = new Set(['ConfigMap', 'Secret', 'Service']);

/**
 * Applies desired objects with as few writes as possible. If the live object differs, tries a
 * server-side apply without force, whose Conflict names other managers, and then an apply with
 * force. Replaces or recreates the object when an apply fails because of an immutable field, or
 * because of an invalid list item that another manager keeps.
 */
export class ObjectApplier {
  readonly #options: ObjectApplierOptions;
  readonly #forcedAt = new Map<string, number>();
  /** Objects that still differ after a replace, because a newer API server fills in fields. */
  readonly #accepted = new Map<string, { resourceVersion: string | undefined; desired: string }>();

  constructor(options: ObjectApplierOptions) {
    this.#options = options;
  }

  /**
   * @param live the object as last read
   * @param isRepair whether another client changed the live object; the next write is then delayed
   * @throws ApiError when the API server rejects a write
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

  async #write(desired: KubernetesObject, found: Findings, how: Write, isRepair: boolean): Promise<KubernetesObject> {
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

  /** Replaces the whole object when an apply kept list items of other field managers. */
  async #settle(desired: KubernetesObject, applied: KubernetesObject, how: Write): Promise<KubernetesObject> {
    if (objectDifference(desired, applied, how.fieldManager) === undefined) return applied;
    this.#noteForce(desired);
    const object = await this.#replace(desired, applied, how);
    if (objectDifference(desired, object, how.fieldManager) !== undefined) {
      const text = JSON.stringify(desired);
      this.#accepted.set(keyOf(desired), { resourceVersion: object.metadata.resourceVersion, desired: text });
    }
    return object;
  }

  #isAccepted(desired: KubernetesObject, live: KubernetesObject): boolean {
    const accepted = this.#accepted.get(keyOf(desired));
    if (accepted === undefined) return false;
    const isSame =
      accepted.resourceVersion === live.metadata.resourceVersion && accepted.desired === JSON.stringify(desired);
    if (!isSame) this.#accepted.delete(keyOf(desired));
    return isSame;
  }

  async #replaceInvalid(
    desired: KubernetesObject,
    live: KubernetesObject,
    how: Write,
  ): Promise<Pick<AppliedObject, 'outcome' | 'object'>> {
    try {
      return { outcome: 'Updated', object: await this.#replace(desired, live, how) };
    } catch (error) {
      if (!(error instanceof ApiError) || !isImmutable(desired, error)) throw error;
      return { outcome: 'Recreated', object: await this.#recreate(desired, live, how) };
    }
  }

  /** Replaces the version that was read; a newer write by another client causes a Conflict. */
  #replace(desired: KubernetesObject, live: KubernetesObject, how: Write): Promise<KubernetesObject> {
    return this.#options.client.replace(overlay(desired, live), how);
  }

  /** Recreates the object, after a dry-run create shows that the API server accepts it. */
  async #recreate(desired: KubernetesObject, live: KubernetesObject, how: Write): Promise<KubernetesObject> {
    const { client } = this.#options;
    try {
      await client.create(desired, { ...how, dryRun: true });
    } catch (error) {
      // The API server validates before it looks up the name: AlreadyExists means a valid object.
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

/** Merges the desired object into the live object; keeps other clients' metadata and spec. */
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
 * Returns the fields in a Conflict that other managers own, but not the fields of our own earlier
 * replace. Returns undefined for any other error.
 */
function foreignFields(error: unknown, fieldManager: string): ForeignField[] | undefined {
  if (!isConflict(error) || !error.causes.some(({ reason }) => reason === 'FieldManagerConflict')) return undefined;
  return error.causes.flatMap(({ message = '', field = '' }) => {
    const manager = /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? message;
    return manager === fieldManager ? [] : [{ manager, field }];
  });
}

/**
 * Kubernetes reports immutability only as text at the end of a cause:
 * `Invalid value: "x": field is immutable` or `Forbidden: field is immutable when …`. Ignores the
 * error's message, which may quote text from the object's author.
 */
function isImmutable(desired: KubernetesObject, error: ApiError): boolean {
  if (error.code !== 422 || !kindsWithImmutableFields.has(desired.kind)) return false;
  return error.causes.some(({ message = '' }) =>
    /: field is immutable$|^Forbidden: field is immutable when /.test(message),
  );
}
