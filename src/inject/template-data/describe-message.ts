import { sortedKeys } from '../../template/go-string.ts';
import { parseGoDuration } from '../mesh/go-duration.ts';
import type { MessageField, MessageType } from '../mesh/message-type.ts';
import { isJsonObject } from '../patch/json-value.ts';

/** A message in protobuf's text form on one line, as its `String` method prints it: `seconds:90`, `image_type:"debug"`; `<nil>` for nil. */
export function describeMessage(type: MessageType, raw: unknown): string {
  if (raw === null || raw === undefined) return '<nil>';
  if (type.name === 'google.protobuf.Duration' && typeof raw === 'string') {
    const { seconds, nanos } = parseGoDuration(raw);
    return [seconds === 0n ? '' : `seconds:${seconds}`, nanos === 0 ? '' : `nanos:${nanos}`]
      .filter((part) => part !== '')
      .join(' ');
  }
  const [only, ...others] = type.fields;
  if (only !== undefined && others.length === 0 && type.name.startsWith('google.protobuf.') && !isJsonObject(raw)) {
    const isZero = raw === 0 || raw === false || raw === '' || raw === '0';
    return isZero ? '' : `value:${describeValue(only, raw)}`;
  }
  const members = isJsonObject(raw) ? raw : {};
  return type.fields
    .filter(({ jsonName }) => Object.hasOwn(members, jsonName))
    .flatMap((field) => describeField(field, members[field.jsonName]))
    .join('  ');
}

function describeField(field: MessageField, value: unknown): string[] {
  const { cardinality, protoName } = field;
  if (cardinality === 'list' && Array.isArray(value))
    return value.map((item) => `${protoName}:${describeElement(field, item)}`);
  if (cardinality === 'map' && isJsonObject(value)) {
    return sortedKeys(value).map(
      (key) => `${protoName}:{key:${JSON.stringify(key)}  value:${describeElement(field, value[key])}}`,
    );
  }
  return [`${protoName}:${describeElement(field, value)}`];
}

function describeElement(field: MessageField, value: unknown): string {
  return field.type.kind === 'message' ? `{${describeMessage(field.type, value)}}` : describeValue(field, value);
}

function describeValue({ type }: MessageField, value: unknown): string {
  return type.kind === 'string' || type.kind === 'bytes' ? JSON.stringify(value) : String(value);
}
