import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';

/** A change of one object in a store; `before` is absent for a new object. Handlers act on the level, not on the event. */
export interface StoreChange<T extends KubernetesObject> {
  type: 'Added' | 'Modified' | 'Deleted';
  object: T;
  before: T | undefined;
}

/** `namespace/name`, or the name alone of a cluster-scoped object. */
export function objectKey(object: { metadata: { name?: string; namespace?: string | undefined } }): string {
  const { name = '', namespace } = object.metadata;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** The objects of one collection as last seen; a reflector fills it, everyone else reads. Objects in it must not be changed. */
export class ObjectStore<T extends KubernetesObject = KubernetesObject> {
  readonly #objects = new Map<string, T>();
  readonly #listeners: ((change: StoreChange<T>) => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #hasSynced = false;

  /** True once a whole list has been read: from then on a missing object means that there was none. */
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

  /** Is told of every change from now on, and at once of every object that is already there. */
  subscribe(listener: (change: StoreChange<T>) => void): void {
    this.#listeners.push(listener);
    for (const object of this.#objects.values()) listener({ type: 'Added', object, before: undefined });
  }

  /** The outcome of a list as of a resourceVersion, all at once; see {@link keepOnly}. */
  replace(objects: readonly T[], resourceVersion: string): void {
    for (const object of objects) this.upsert(object);
    this.keepOnly(new Set(objects.map(objectKey)), resourceVersion);
  }

  /**
   * The end of a list as of a resourceVersion, whose pages have been taken over one by one: what was in none of them has been deleted, unless it was
   * written after the list. Taking a large list over at once would hold up the event loop.
   * @param listed the keys ({@link objectKey}) of everything in the list
   */
  keepOnly(listed: ReadonlySet<string>, resourceVersion: string): void {
    for (const [key, object] of this.#objects) {
      if (!listed.has(key) && !isOlder(resourceVersion, object.metadata.resourceVersion)) this.#remove(key, object);
    }
    if (this.#hasSynced) return;
    this.#hasSynced = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** An object as read, watched or just written by ourselves, whichever comes first: an older one never replaces a newer one. */
  upsert(object: T): void {
    const key = objectKey(object);
    const before = this.#objects.get(key);
    const { resourceVersion } = object.metadata;
    if (before !== undefined && isOlder(resourceVersion, before.metadata.resourceVersion)) return;
    this.#objects.set(key, object);
    if (before !== undefined && before.metadata.resourceVersion === resourceVersion) return;
    this.#tell({ type: before === undefined ? 'Added' : 'Modified', object, before });
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
    this.#tell({ type: 'Deleted', object, before });
  }

  #tell(change: StoreChange<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

const decimal = /^[1-9]\d*$/;

/**
 * The API server's resourceVersions are increasing decimal numbers per kind; anything else is not compared. As texts, since numbers of any length
 * would cost a list of ten thousand objects milliseconds.
 */
function isOlder(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined || one === other || !decimal.test(one) || !decimal.test(other))
    return false;
  return one.length === other.length ? one < other : one.length < other.length;
}
