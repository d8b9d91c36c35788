import { ConfigurationError } from '../api/errors.ts';
import { maximumConfigurationBytes } from '../api/injector-config/configuration-files.ts';

/** The maximum depth in levels. The functions that serialize a value recurse once per level. */
const maximumDepth = 300;

/**
 * Refuses a value whose text would be too long, before the text is written. Counts two spaces of
 * indentation per level, because the text of a long, deeply nested list is mostly indentation.
 * @param field the field of the InjectorConfig that contains the value, or refers to it
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
      throw new ConfigurationError(field, `${problem}, including indentation; shorten it or make it flatter`);
    }
    if (typeof inner !== 'object' || inner === null) return;
    for (const [key, member] of Object.entries(inner)) {
      length += Array.isArray(inner) ? 0 : key.length;
      walk(member, depth + 1);
    }
  };
  walk(value, 0);
}
