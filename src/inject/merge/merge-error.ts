import { sortedKeys } from '../../template/go-string.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

/** A patch that cannot be merged. The message is the one of k8s.io/apimachinery, since it ends up in admission responses that people compare. */
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

/** The name of the type that Go decodes a JSON value into, as its verb %s prints it: integers are int64, other numbers float64. */
export function goTypeName(value: unknown): string {
  if (value === null) return '%!s(<nil>)';
  if (Array.isArray(value)) return typeNames.list;
  if (isJsonObject(value)) return typeNames.object;
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

/** A JSON value as Go's verb %v prints it. */
export function formatGo(value: unknown): string {
  if (value === null) return '<nil>';
  return formatParts(value, formatGo) ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

/** As the verb %s prints it: with their types, where scalars are no strings. */
function formatString(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return goTypeName(value);
  const number = typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(6) : undefined;
  return formatParts(value, formatString) ?? `%!s(${goTypeName(value)}=${number ?? JSON.stringify(value)})`;
}

/** Lists, and maps in the order of their keys; `undefined` for a scalar. */
function formatParts(value: unknown, formatPart: (part: unknown) => string): string | undefined {
  if (Array.isArray(value)) return `[${value.map(formatPart).join(' ')}]`;
  if (!isJsonObject(value)) return undefined;
  return `map[${sortedKeys(value)
    .map((name) => `${name}:${formatPart(value[name])}`)
    .join(' ')}]`;
}
