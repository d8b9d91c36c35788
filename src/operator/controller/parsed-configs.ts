import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';

/** What is read, or what is wrong with it. */
export function readOrRefuse<T>(read: () => T): T | ConfigurationError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

/** Objects of the view never change, so each is parsed once. */
function parsedOnce<T>(parse: (object: KubernetesObject) => T): (object: KubernetesObject) => T | ConfigurationError {
  const known = new WeakMap<KubernetesObject, T | ConfigurationError>();
  return (object) => {
    const parsed = known.get(object) ?? readOrRefuse(() => parse(object));
    known.set(object, parsed);
    return parsed;
  };
}

/** An InjectorConfig of the view as its schema reads it, or what is wrong with it. */
export const parsedConfig = parsedOnce(parseInjectorConfig);

/** A RevisionTag of the view as its schema reads it, or what is wrong with it. */
export const parsedTag = parsedOnce(parseRevisionTag);
