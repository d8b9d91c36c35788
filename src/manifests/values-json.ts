import { parse, type Tags } from 'yaml';
import { ConfigurationError } from '../api/errors.ts';
import { refuseUnbounded } from './bounded-text.ts';

/** The maximum length in characters. A replica parses such YAML in under 100 ms. */
const longestYaml = 64 * 1024;

/**
 * Converts `.Values` to JSON. Returns JSON unchanged. Reads YAML as Kubernetes' Go tools do: with
 * the booleans of YAML 1.1 (yes, on …), but without its sexagesimal numbers and dates.
 * @param field the field of the InjectorConfig that refers to the text
 * @throws ConfigurationError if the text is invalid, not a map, or YAML of more than 64 KiB
 */
export function valuesJson(text: string, field: string): string {
  let json = text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (text.length > longestYaml) {
      const problem = `${field}: the text is not JSON, and YAML may have at most ${longestYaml} characters, found ${text.length}`;
      throw new ConfigurationError(field, `${problem}; write it as JSON`);
    }
    value = readYaml(text, field);
    refuseUnbounded(value, field);
    json = canonicalJson(value);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigurationError(field, `${field}: the text must be a JSON or YAML map, found ${kind(value)}`);
  return json;
}

function readYaml(text: string, field: string): unknown {
  try {
    return parse(text, { version: '1.1', customTags: withoutTimes }) ?? {};
  } catch (error) {
    const detail = String(error)
      .replace(/^\w+: /, '')
      .replace(/:?\n[\s\S]*/, '');
    throw new ConfigurationError(field, `${field}: the text is neither JSON nor YAML: ${detail}`, { cause: error });
  }
}

function withoutTimes(tags: Tags): Tags {
  return tags.filter(
    (tag) =>
      typeof tag === 'string' || (!('format' in tag && tag.format === 'TIME') && !tag.tag.endsWith(':timestamp')),
  );
}

function kind(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'nothing' : `a ${typeof value}`;
}

/** Serializes a value as JSON with sorted keys and an indentation of two spaces. */
export function canonicalJson(value: unknown): string {
  const sorted = (_key: string, inner: unknown): unknown =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner;
  return JSON.stringify(value, sorted, 2);
}
