import type { PassMemory } from '../controller/pass-context.ts';

/** The facts about an InjectorConfig that its webhooks need. */
export interface RevisionFacts {
  /** The authorities that clients must trust now and after the next step of a rotation. */
  readonly caBundlePem: string;
  /** The hash that every live replica served at publication; absent if nothing is published. */
  readonly hash?: string | undefined;
}

/** The facts about an InjectorConfig to which a tag may point. */
export interface PublishedRevision extends RevisionFacts {
  readonly hash: string;
}

export interface FactsMemory {
  facts?: RevisionFacts;
}

/**
 * Hands facts, in memory, from the passes over InjectorConfigs to the passes over tags. A new
 * leader knows the facts after one pass over each InjectorConfig.
 */
export class KnownRevisions {
  readonly #memory: PassMemory<FactsMemory>;
  readonly #onChange: (name: string) => void;

  /** @param onChange receives the name of an InjectorConfig whose facts have changed */
  constructor(memory: PassMemory<FactsMemory>, onChange: (name: string) => void) {
    this.#memory = memory;
    this.#onChange = onChange;
  }

  get(name: string): RevisionFacts | undefined {
    return this.#memory.read(name).facts;
  }

  /** Returns undefined before the first pass, and if no tag may point to the InjectorConfig. */
  published(name: string): PublishedRevision | undefined {
    const { caBundlePem, hash } = this.get(name) ?? {};
    return caBundlePem === undefined || hash === undefined ? undefined : { caBundlePem, hash };
  }

  /** @param facts undefined if the webhook is withdrawn or the InjectorConfig is deleted */
  set(name: string, facts: RevisionFacts | undefined): void {
    const before = this.get(name);
    if (facts === undefined) delete this.#memory.of(name).facts;
    else this.#memory.of(name).facts = facts;
    if (before?.hash !== facts?.hash || before?.caBundlePem !== facts?.caBundlePem) this.#onChange(name);
  }
}
