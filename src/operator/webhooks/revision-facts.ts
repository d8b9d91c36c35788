/** What a webhook needs to know of the InjectorConfig that it leads to. */
export interface RevisionFacts {
  /** What a client must trust to call it, now and through the next step of the rotation. */
  readonly caBundlePem: string;
  /** The configuration that every live replica held when it was published; absent while nobody may be sent to it. */
  readonly hash?: string | undefined;
}

/** What an InjectorConfig serves. */
export interface PublishedRevision extends RevisionFacts {
  readonly hash: string;
}

/**
 * What the passes over InjectorConfigs have found out, for the passes over tags: the one way in which one pass learns of another. In memory: a new
 * leader knows it after one pass over each.
 */
export class KnownRevisions {
  readonly #facts = new Map<string, RevisionFacts>();
  readonly #onChange: (name: string) => void;

  /** @param onChange is told of what is new */
  constructor(onChange: (name: string) => void) {
    this.#onChange = onChange;
  }

  get(name: string): RevisionFacts | undefined {
    return this.#facts.get(name);
  }

  /** What an InjectorConfig serves; undefined while it has not been looked at, and while nobody could be sent to it. */
  published(name: string): PublishedRevision | undefined {
    const { caBundlePem, hash } = this.#facts.get(name) ?? {};
    return caBundlePem === undefined || hash === undefined ? undefined : { caBundlePem, hash };
  }

  /** Undefined: its webhook is withdrawn, or it is gone. */
  set(name: string, facts: RevisionFacts | undefined): void {
    const before = this.#facts.get(name);
    if (facts === undefined) this.#facts.delete(name);
    else this.#facts.set(name, facts);
    if (before?.hash !== facts?.hash || before?.caBundlePem !== facts?.caBundlePem) this.#onChange(name);
  }
}
