import type { StructField, PodStructType, ValueType } from '../kubernetes/go-types.ts';
import { isJsonObject } from '../patch/json-value.ts';
import { sortedKeys } from '../../template/go-string.ts';
import { property } from '../../template/typed-value.ts';

/** Formats a struct like the `String` method of Kubernetes types: `&ContainerPort{Name:http,…}`. */
export function describeStruct(type: PodStructType, raw: unknown): string {
  if (raw === null || raw === undefined) return 'nil';
  return `&${describeMembers(type.localName, type.fields, raw, 0)}`;
}

function describeMembers(name: string, fields: readonly StructField[], raw: unknown, depth: number): string {
  const members = groupEmbedded(fields, depth).flatMap(({ embedded, group }) =>
    embedded === undefined
      ? group.map((field) => `${field.goName}:${describeField(field, property(raw, field.name))},`)
      : `${embedded}:${describeMembers(embedded, group, raw, depth + 1)},`,
  );
  return `${name}{${members.join('')}}`;
}

/** Groups fields in Go's order by the embedded struct that contains them. */
export function groupEmbedded(
  fields: readonly StructField[],
  depth: number,
): { embedded: string | undefined; group: StructField[] }[] {
  const groups: { embedded: string | undefined; group: StructField[] }[] = [];
  for (const field of fields) {
    const embedded = field.embeddedIn[depth];
    const last = groups.at(-1);
    if (last !== undefined && last.embedded === embedded) last.group.push(field);
    else groups.push({ embedded, group: [field] });
  }
  return groups;
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
      const name = type.goName.startsWith('map[') ? type.goName : type.goName.slice(type.goName.indexOf('.') + 1);
      const entries = sortedKeys(map).map((key) => `${key}: ${describeValue(type.value, map[key])},`);
      return `${name}{${entries.join('')}}`;
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

/** Formats structs in full, and other elements as fmt prints a slice. */
function describeList(element: ValueType, items: readonly unknown[]): string {
  const texts = items.map((item) => describeValue(element, item));
  if (element.kind !== 'struct') return `[${texts.join(' ')}]`;
  return `[]${element.localName}{${texts.map((text) => `${text},`).join('')}}`;
}
