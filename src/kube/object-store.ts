import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';

/** A change of one object; `before` is undefined for a new object. Handlers are level-triggered. */
export interface StoreChange<T extends KubernetesObject> {
  type: 'Added' | 'Modified' | 'Deleted';
  object: T;
  before: T | undefined;
}

/** Returns `namespace/name`, or the name of a cluster-scoped object. */
export function objectKey(object: { metadata: { name?: string; namespace?: string | undefined } }): string {
  const { name = '', namespace } = object.metadata;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** A cache of one collection, filled by a reflector. Readers must not change its objects. */
export class ObjectStore<T extends KubernetesObject = KubernetesObject> {
  readonly #objects = new Map<string, T>();
  readonly #listeners: ((change: StoreChange<T>) => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #hasSynced = false;

  /** Whether a whole list was read. Once true, an object missing from the store does not exist. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(name: string, namespace?: string): T | undefined {
    return this.#objects.get(objectKey({ metadata: { name, namespace } }));
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /** Resolves once the store has synced. */
  synced(): Promise<void> {
    return this.#hasSynced ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Calls the listener for every existing object now, and for every later change. */
  subscribe(listener: (change: StoreChange<T>) => void): void {
    this.#listeners.push(listener);
    for (const object of this.#objects.values()) listener({ type: 'Added', object, before: undefined });
  }

  /** Replaces the content with a complete list; see {@link keepOnly}. */
  replace(objects: readonly T[], resourceVersion: string): void {
    for (const object of objects) this.upsert(object);
    this.keepOnly(new Set(objects.map(objectKey)), resourceVersion);
  }

  /**
   * Ends a list whose pages were stored one by one (a whole list would block the event loop):
   * removes each object that is not in `listed` and was not written after the list. @param listed
   * the keys ({@link objectKey}) of the list
   */
  keepOnly(listed: ReadonlySet<string>, resourceVersion: string): void {
    for (const [key, object] of this.#objects) {
      if (!listed.has(key) && !isOlder(resourceVersion, object.metadata.resourceVersion)) this.#remove(key, object);
    }
    if (this.#hasSynced) return;
    this.#hasSynced = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Stores an object that was read, watched or written, unless the store has a newer version. */
  upsert(object: T): void {
    const key = objectKey(object);
    const before = this.#objects.get(key);
    const { resourceVersion } = object.metadata;
    if (before !== undefined && isOlder(resourceVersion, before.metadata.resourceVersion)) return;
    this.#objects.set(key, object);
    if (before !== undefined && before.metadata.resourceVersion === resourceVersion) return;
    this.#notify({ type: before === undefined ? 'Added' : 'Modified', object, before });
  }

  remove(object: T): void {
    const key = objectKey(object);
    const before = this.#objects.get(key);
    if (before === undefined || isOlder(object.metadata.resourceVersion, before.metadata.resourceVersion)) return;
    this.#remove(key, object);
  }

  #remove(key: string, object: T): void {
    const before = this.#objects.get(key);
    this.#objects.delete(key);
    this.#notify({ type: 'Deleted', object, before });
  }

  #notify(change: StoreChange<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

const decimal = /^[1-9]\d*$/;

/**
 * Reports whether `one` is older. resourceVersions are decimal numbers that increase per kind; any
 * other value is never older. Compares digits as text, since parsing long numbers is slow.
 */
function isOlder(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined || one === other || !decimal.test(one) || !decimal.test(other))
    return false;
  return one.length === other.length ? one < other : one.length < other.length;
}
