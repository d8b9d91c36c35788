/** The facts about an InjectorConfig that a webhook to it needs. */
export interface RevisionFacts {
  /** The authorities that clients must trust, now and through the next step of the rotation. */
  readonly caBundlePem: string;
  /** The hash that every live replica served at publication; absent if no webhook may name it. */
  readonly hash?: string | undefined;
}

/** The facts about an InjectorConfig to which a webhook may point. */
export interface PublishedRevision extends RevisionFacts {
  readonly hash: string;
}

/**
 * Passes facts from the passes over InjectorConfigs to the passes over tags, in memory. A new
 * leader has them after one pass over each InjectorConfig.
 */
export class KnownRevisions {
  readonly #facts = new Map<string, RevisionFacts>();
  readonly #onChange: (name: string) => void;

  /** @param onChange receives the name of an InjectorConfig whose facts changed */
  constructor(onChange: (name: string) => void) {
    this.#onChange = onChange;
  }

  get(name: string): RevisionFacts | undefined {
    return this.#facts.get(name);
  }

  /** Returns undefined before the first pass, and if no webhook may point to the InjectorConfig. */
  published(name: string): PublishedRevision | undefined {
    const { caBundlePem, hash } = this.#facts.get(name) ?? {};
    return caBundlePem === undefined || hash === undefined ? undefined : { caBundlePem, hash };
  }

  /** @param facts undefined if the webhook is withdrawn or the InjectorConfig is deleted */
  set(name: string, facts: RevisionFacts | undefined): void {
    const before = this.#facts.get(name);
    if (facts === undefined) this.#facts.delete(name);
    else this.#facts.set(name, facts);
    if (before?.hash !== facts?.hash || before?.caBundlePem !== facts?.caBundlePem) this.#onChange(name);
  }
}
