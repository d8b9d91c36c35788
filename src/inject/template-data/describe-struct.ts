import type { StructField, StructType, ValueType } from '../kubernetes/go-types.ts';
import { isJsonObject } from '../patch/json-value.ts';
import { compareStrings } from '../../template/go-string.ts';

/** What the `String` method that Kubernetes generates for its types returns: `&ContainerPort{Name:http,HostPort:0,…}`, `nil` for nil. */
export function describeStruct(type: StructType, raw: unknown): string {
  if (raw === null || raw === undefined) return 'nil';
  return `&${describeMembers(type.localName, type.fields, raw, 0)}`;
}

function describeMembers(name: string, fields: readonly StructField[], raw: unknown, depth: number): string {
  let text = '';
  for (let index = 0; index < fields.length;) {
    const field = fields[index];
    if (field === undefined) break;
    const embedded = field.embeddedIn[depth];
    if (embedded === undefined) {
      text += `${field.goName}:${describeField(field, memberOf(raw, field.name))},`;
      index += 1;
      continue;
    }
    const end = fields.findIndex((other, at) => at > index && other.embeddedIn[depth] !== embedded);
    const members = fields.slice(index, end < 0 ? undefined : end);
    text += `${embedded}:${describeMembers(embedded, members, raw, depth + 1)},`;
    index += members.length;
  }
  return `${name}{${text}}`;
}

function memberOf(raw: unknown, name: string): unknown {
  return isJsonObject(raw) && Object.hasOwn(raw, name) ? raw[name] : undefined;
}

function describeField({ type, pointer }: StructField, value: unknown): string {
  if (pointer) {
    if (value === undefined || value === null) return 'nil';
    if (type.kind === 'struct') return describeStruct(type, value);
    return type.kind === 'custom' ? describeValue(type, value) : `*${describeValue(type, value)}`;
  }
  return describeValue(type, value);
}

function describeValue(type: ValueType, value: unknown): string {
  switch (type.kind) {
    case 'struct':
      return describeMembers(type.localName, type.fields, value, 0);
    case 'list':
      return describeList(type.element, Array.isArray(value) ? value : []);
    case 'map': {
      const map = isJsonObject(value) ? value : {};
      const keys = Object.keys(map).sort(compareStrings);
      const name = type.goName.startsWith('map[') ? type.goName : type.goName.slice(type.goName.indexOf('.') + 1);
      return `${name}{${keys.map((key) => `${key}: ${describeValue(type.value, map[key])},`).join('')}}`;
    }
    case 'bool':
      return String(value === true);
    case 'string':
      return typeof value === 'string' ? value : '';
    case 'custom':
      return typeof value === 'string' || typeof value === 'number'
        ? String(value)
        : type.format === 'time'
          ? '0001-01-01 00:00:00 +0000 UTC'
          : '0';
    default:
      return typeof value === 'number' ? String(value) : '0';
  }
}

/** Structs are written out; everything else as fmt prints a slice. */
function describeList(element: ValueType, items: readonly unknown[]): string {
  const texts = items.map((item) => describeValue(element, item));
  if (element.kind !== 'struct') return `[${texts.join(' ')}]`;
  return `[]${element.localName}{${texts.map((text) => `${text},`).join('')}}`;
}
