import { ConfigurationError } from '../api/errors.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { parseInjectorConfig } from '../api/parse-injector-config.ts';

/** InjectorConfigs as the schema reads them. Objects of the view never change, so each is parsed once. */
export class ParsedConfigs {
  readonly #parsed = new WeakMap<KubernetesObject, InjectorConfig | ConfigurationError>();

  /** The parsed object, or what is wrong with it. */
  parse(object: KubernetesObject): InjectorConfig | ConfigurationError {
    const known = this.#parsed.get(object);
    if (known !== undefined) return known;
    const parsed = parseOrRefuse(object);
    this.#parsed.set(object, parsed);
    return parsed;
  }

  /** Those that can be read. */
  parseAll(objects: readonly KubernetesObject[]): InjectorConfig[] {
    return objects.flatMap((object) => {
      const parsed = this.parse(object);
      return parsed instanceof ConfigurationError ? [] : [parsed];
    });
  }
}

function parseOrRefuse(object: KubernetesObject): InjectorConfig | ConfigurationError {
  try {
    return parseInjectorConfig(object);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}
