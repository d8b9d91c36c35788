import type { CustomType, PodScalarType, StructField, PodStructType, ValueType } from './go-types.ts';
import { podNamedTypes, podStructs } from './generated/pod-types.ts';

const CUSTOM_FORMATS: Readonly<Record<string, CustomType['format']>> = {
  'resource.Quantity': 'quantity',
  'intstr.IntOrString': 'int-or-string',
  'v1.Time': 'time',
  'v1.FieldsV1': 'raw',
};

const SCALARS: ReadonlySet<string> = new Set<PodScalarType['kind']>(['string', 'bool', 'int32', 'int64']);

const declarations = readTable(podStructs);
const named = new Map(podNamedTypes.trim().split('\n').map(splitLine));
const structs = new Map<string, PodStructType>();

/** Returns a struct of the pod schema by Go name, e.g. `v1.Container`. @throws Error if unknown */
export function podStruct(goName: string): PodStructType {
  const known = structs.get(goName);
  if (known !== undefined) return known;
  const declared = declarations.get(goName);
  if (declared === undefined) throw new Error(`the generated tables have no struct ${goName}`);
  const fields: StructField[] = [];
  const byName = new Map<string, StructField>();
  const byFoldedName = new Map<string, StructField>();
  const alwaysEncoded: StructField[] = [];
  const localName = goName.slice(goName.indexOf('.') + 1);
  const result: PodStructType = { kind: 'struct', goName, localName, fields, alwaysEncoded, byName, byFoldedName };
  structs.set(goName, result);
  const { lines } = declarations.get(declared.goType) ?? declared;
  for (const line of lines) fields.push(...readField(line));
  for (const field of fields) {
    if (isAlwaysEncoded(field)) alwaysEncoded.push(field);
    byName.set(field.name, field);
    if (!byFoldedName.has(field.name.toLowerCase())) byFoldedName.set(field.name.toLowerCase(), field);
  }
  return result;
}

function readField(line: string): readonly StructField[] {
  const [goName = '', name = '', goType = '', ...flags] = line.split(' ');
  if (name === '-') {
    return podStruct(goType).fields.map((field) => ({ ...field, embeddedIn: [goName, ...field.embeddedIn] }));
  }
  const pointer = goType.startsWith('*');
  return [
    {
      goName,
      name,
      type: type(pointer ? goType.slice(1) : goType),
      pointer,
      omitEmpty: flags.includes('omitempty'),
      omitZero: flags.includes('omitzero'),
      embeddedIn: [],
      patchStrategy: tag(flags, 'strategy').split(',')[0] ?? '',
      mergeKey: tag(flags, 'key'),
    },
  ];
}

/** `goName` is the declared name if it differs from the underlying type, e.g. v1.ResourceList. */
function type(text: string, goName = text): ValueType {
  if (text.startsWith('[]')) {
    const element = text.slice(2);
    const elementPointer = element.startsWith('*');
    return { kind: 'list', goName, element: type(elementPointer ? element.slice(1) : element), elementPointer };
  }
  if (text.startsWith('map[')) return { kind: 'map', goName, value: type(text.slice(text.indexOf(']') + 1)) };
  if (isScalarKind(text)) return { kind: text, goName };
  // A name without package cannot be a named type, so podStruct reports an unknown table entry.
  if (declarations.has(text) || !text.includes('.')) return podStruct(text);
  const format = CUSTOM_FORMATS[text];
  return format === undefined ? type(named.get(text) ?? 'string', goName) : { kind: 'custom', goName, format };
}

function isScalarKind(text: string): text is PodScalarType['kind'] {
  return SCALARS.has(text);
}

function isAlwaysEncoded({ type, pointer, omitEmpty, omitZero }: StructField): boolean {
  const neverEmpty = !pointer && (type.kind === 'struct' || type.kind === 'custom');
  return !omitZero && (!omitEmpty || neverEmpty);
}

/** Parses a generated table: headings with the indented lines below them. */
export function readTable(table: string): Map<string, { goType: string; lines: string[] }> {
  const entries = new Map<string, { goType: string; lines: string[] }>();
  let lines: string[] = [];
  for (const line of table.trim().split('\n')) {
    if (line.startsWith('  ')) {
      lines.push(line.trim());
      continue;
    }
    const [name, goType] = splitLine(line);
    lines = [];
    entries.set(name, { goType, lines });
  }
  return entries;
}

function splitLine(line: string): [string, string] {
  const [name = '', text = ''] = line.split(' ');
  return [name, text];
}

function tag(flags: readonly string[], name: string): string {
  return flags.find((flag) => flag.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

export const podType = podStruct('v1.Pod');
