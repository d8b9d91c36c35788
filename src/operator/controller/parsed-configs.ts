import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';

/** Returns the result of `read`, or the ConfigurationError that it throws. */
export function readOrRefuse<T>(read: () => T): T | ConfigurationError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

/** Parses each object once, since objects in the view never change. */
function parsedOnce<T>(parse: (object: KubernetesObject) => T): (object: KubernetesObject) => T | ConfigurationError {
  const known = new WeakMap<KubernetesObject, T | ConfigurationError>();
  return (object) => {
    const parsed = known.get(object) ?? readOrRefuse(() => parse(object));
    known.set(object, parsed);
    return parsed;
  };
}

/** Returns an InjectorConfig of the view, parsed by its schema, or the error. */
export const parsedConfig = parsedOnce(parseInjectorConfig);

/** Returns a RevisionTag of the view, parsed by its schema, or the error. */
export const parsedTag = parsedOnce(parseRevisionTag);
