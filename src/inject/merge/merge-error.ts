import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

/** A patch that cannot be merged. The message is the one of k8s.io/apimachinery, since it ends up in admission responses that people compare. */
export class StrategicMergeError extends Error {
  override readonly name = 'StrategicMergeError';
}

export function noMergeKey(item: JsonObject, mergeKey: string): StrategicMergeError {
  return new StrategicMergeError(`map: ${formatGo(item)} does not contain declared merge key: ${mergeKey}`);
}

export function badArgument(expected: 'object' | 'list', actual: unknown): StrategicMergeError {
  return new StrategicMergeError(`expected a ${TYPE_NAMES[expected]}, but received a ${goTypeName(actual)}`);
}

export function badPatchType(directive: unknown, patch: JsonObject): StrategicMergeError {
  const type = typeof directive === 'string' ? directive : formatMismatch(directive);
  return new StrategicMergeError(`unknown patch type: ${type} in map: ${formatGo(patch)}`);
}

const TYPE_NAMES = { object: 'map[string]interface {}', list: '[]interface {}' } as const;

/** The name of the type that Go decodes a JSON value into, as its verb %s prints it. */
export function goTypeName(value: unknown): string {
  if (value === null) return '%!s(<nil>)';
  if (Array.isArray(value)) return TYPE_NAMES.list;
  if (isJsonObject(value)) return TYPE_NAMES.object;
  return typeof value === 'number' ? numberType(value) : typeof value === 'boolean' ? 'bool' : 'string';
}

/** Kubernetes decodes integers as int64 and everything else as float64. */
function numberType(value: number): 'int64' | 'float64' {
  return Number.isInteger(value) ? 'int64' : 'float64';
}

/** A JSON value as Go's verb %v prints it: maps in the order of their keys. */
export function formatGo(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(formatGo).join(' ')}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value).sort(compareBytes);
    return `map[${members.map((name) => `${name}:${formatGo(value[name])}`).join(' ')}]`;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What the verb %s makes of a value that is no string. */
function formatMismatch(value: unknown): string {
  if (value === null) return '%!s(<nil>)';
  if (Array.isArray(value)) return `[${value.map(formatString).join(' ')}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value).sort(compareBytes);
    return `map[${members.map((name) => `${name}:${formatString(value[name])}`).join(' ')}]`;
  }
  const text = typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(6) : JSON.stringify(value);
  return `%!s(${goTypeName(value)}=${text})`;
}

function formatString(value: unknown): string {
  return typeof value === 'string' ? value : formatMismatch(value);
}

/** Go compares strings by their bytes, JavaScript by UTF-16 units: they differ above U+FFFF. */
function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
