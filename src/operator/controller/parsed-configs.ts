import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';

/** Returns the result of `read`, or the ConfigurationError that it throws. */
export function catchConfigurationError<T>(read: () => T): T | ConfigurationError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

/** Returns a parser that parses each object once, since objects in the view never change. */
function parsedOnce<T>(parse: (object: KubernetesObject) => T): (object: KubernetesObject) => T | ConfigurationError {
  const known = new WeakMap<KubernetesObject, T | ConfigurationError>();
  return (object) => {
    const parsed = known.get(object) ?? catchConfigurationError(() => parse(object));
    known.set(object, parsed);
    return parsed;
  };
}

/** Parses an InjectorConfig from the view with its schema, or returns the error. */
export const parsedConfig = parsedOnce(parseInjectorConfig);

/** Parses a RevisionTag from the view with its schema, or returns the error. */
export const parsedTag = parsedOnce(parseRevisionTag);
