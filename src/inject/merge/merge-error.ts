import { sortedKeys } from '../../template/go-string.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

/** A failed merge, with the message of k8s.io/apimachinery for admission responses. */
export class StrategicMergeError extends Error {
  override readonly name = 'StrategicMergeError';
}

export function badArgument(expected: 'object' | 'list', actual: unknown): StrategicMergeError {
  return new StrategicMergeError(`expected a ${typeNames[expected]}, but received a ${goTypeName(actual)}`);
}

export function badPatchType(directive: unknown, patch: JsonObject): StrategicMergeError {
  return new StrategicMergeError(`unknown patch type: ${formatString(directive)} in map: ${formatGo(patch)}`);
}

const typeNames = { object: 'map[string]interface {}', list: '[]interface {}' } as const;

/** Returns a JSON value's Go type as %s prints it: int64 for integers, otherwise float64. */
export function goTypeName(value: unknown): string {
  if (value === null) return '%!s(<nil>)';
  if (Array.isArray(value)) return typeNames.list;
  if (isJsonObject(value)) return typeNames.object;
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

/** Formats a JSON value like Go's verb %v. */
export function formatGo(value: unknown): string {
  if (value === null) return '<nil>';
  return formatParts(value, formatGo) ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

/** Formats a value like the verb %s, which adds the type of scalars that are not strings. */
function formatString(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return goTypeName(value);
  const number = typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(6) : undefined;
  return formatParts(value, formatString) ?? `%!s(${goTypeName(value)}=${number ?? JSON.stringify(value)})`;
}

/** Formats lists, and maps in key order; `undefined` for a scalar. */
function formatParts(value: unknown, formatPart: (part: unknown) => string): string | undefined {
  if (Array.isArray(value)) return `[${value.map(formatPart).join(' ')}]`;
  if (!isJsonObject(value)) return undefined;
  return `map[${sortedKeys(value)
    .map((name) => `${name}:${formatPart(value[name])}`)
    .join(' ')}]`;
}
