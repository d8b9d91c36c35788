/** What an InjectorConfig serves, as its last pass left it. */
export interface PublishedRevision {
  /** The configuration that every live replica held when it was published. */
  readonly hash: string;
  /** What a client must trust to call it, now and through the next step of the rotation. */
  readonly caBundlePem: string;
}

/** What the InjectorConfigs serve: their passes write it, tags read it. In memory: a new leader knows it after one pass over each. */
export class PublishedRevisions {
  readonly #published = new Map<string, PublishedRevision>();
  readonly #listeners: ((name: string) => void)[] = [];

  /** Undefined while an InjectorConfig has not been looked at, and while nobody could be sent to it. */
  of(name: string): PublishedRevision | undefined {
    return this.#published.get(name);
  }

  /** Undefined: nothing that anybody could be sent to. Listeners are told of what is new. */
  set(name: string, published: PublishedRevision | undefined): void {
    const before = this.#published.get(name);
    if (published === undefined) this.#published.delete(name);
    else this.#published.set(name, published);
    if (before?.hash === published?.hash && before?.caBundlePem === published?.caBundlePem) return;
    for (const listener of this.#listeners) listener(name);
  }

  subscribe(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }
}
