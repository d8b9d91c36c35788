import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';

/** Objects of ours as their schema reads them. Objects of the view never change, so each is parsed once. */
class ParsedObjects<T> {
  readonly #parse: (object: KubernetesObject) => T;
  readonly #parsed = new WeakMap<KubernetesObject, T | ConfigurationError>();

  constructor(parse: (object: KubernetesObject) => T) {
    this.#parse = parse;
  }

  /** The parsed object, or what is wrong with it. */
  parse(object: KubernetesObject): T | ConfigurationError {
    const known = this.#parsed.get(object);
    if (known !== undefined) return known;
    const parsed = this.#parseOrRefuse(object);
    this.#parsed.set(object, parsed);
    return parsed;
  }

  /** Those that can be read. */
  parseAll(objects: readonly KubernetesObject[]): T[] {
    return objects.flatMap((object) => {
      const parsed = this.parse(object);
      return parsed instanceof ConfigurationError ? [] : [parsed];
    });
  }

  #parseOrRefuse(object: KubernetesObject): T | ConfigurationError {
    try {
      return this.#parse(object);
    } catch (error) {
      if (error instanceof ConfigurationError) return error;
      throw error;
    }
  }
}

/** InjectorConfigs, each parsed once. */
export class ParsedConfigs extends ParsedObjects<InjectorConfig> {
  constructor() {
    super((object) => parseInjectorConfig(object));
  }
}

/** RevisionTags, each parsed once. */
export class ParsedTags extends ParsedObjects<RevisionTag> {
  constructor() {
    super((object) => parseRevisionTag(object));
  }
}
