import { escapeGoJson } from '../../template/functions/go/json-encode.ts';
import type { ValueType } from '../kubernetes/go-types.ts';
import { isJsonObject } from '../patch/json-value.ts';

/** Encodes a value of `normalisePod` like Go's encoding/json: sorts maps and escapes HTML. */
export function encodeGoJson(type: ValueType, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (type.kind === 'list' && Array.isArray(value)) {
    return `[${value.map((item) => encodeGoJson(type.element, item)).join(',')}]`;
  }
  if (type.kind === 'map' && isJsonObject(value)) {
    const members = Object.keys(value).sort();
    return `{${members.map((name) => `${escapeGoJson(JSON.stringify(name))}:${encodeGoJson(type.value, value[name])}`).join(',')}}`;
  }
  if (type.kind === 'struct' && isJsonObject(value)) {
    const members = type.fields.filter(({ name }) => Object.hasOwn(value, name));
    return `{${members.map((field) => `${JSON.stringify(field.name)}:${encodeGoJson(field.type, value[field.name])}`).join(',')}}`;
  }
  return escapeGoJson(JSON.stringify(value));
}
