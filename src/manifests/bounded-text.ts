import { ConfigurationError } from '../api/errors.ts';

/** A ConfigMap holds 1 MiB; what is left is room for metadata. */
export const maximumConfigurationBytes = 900 * 1024;
/** Levels to which values may nest. Whatever writes them as text calls itself for each. */
const maximumDepth = 300;

/**
 * Refuses values that would be too long as a text with two spaces a level, before that is written: a long list deep inside is mostly indentation.
 * @param field the field of the InjectorConfig that holds them, or refers to them
 * @throws ConfigurationError
 */
export function refuseUnbounded(value: unknown, field: string): void {
  let length = 0;
  const walk = (inner: unknown, depth: number): void => {
    if (depth > maximumDepth)
      throw new ConfigurationError(field, `${field} nests deeper than ${maximumDepth} levels; make it flatter`);
    length += 2 * depth + (typeof inner === 'string' ? inner.length : 1);
    if (length > maximumConfigurationBytes) {
      const problem = `${field} is larger than the 900 KiB that fit in a ConfigMap`;
      throw new ConfigurationError(field, `${problem}, with two spaces a level; shorten it or make it flatter`);
    }
    if (typeof inner !== 'object' || inner === null) return;
    for (const [key, member] of Object.entries(inner)) {
      length += Array.isArray(inner) ? 0 : key.length;
      walk(member, depth + 1);
    }
  };
  walk(value, 0);
}
