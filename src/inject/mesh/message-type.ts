import { readTable } from '../kubernetes/pod-schema.ts';
import { meshEnums, meshMessages } from './generated/mesh-types.ts';

const scalarKinds = ['string', 'bool', 'int32', 'int64', 'uint32', 'uint64', 'double', 'float', 'bytes'] as const;

export type ScalarKind = (typeof scalarKinds)[number];

export interface EnumType {
  readonly kind: 'enum';
  /** The full protobuf name. */
  readonly name: string;
  readonly goType: string;
  readonly numbers: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<number, string>;
}

/** A protobuf message with its fields in declaration order, as in protobuf JSON. */
export interface MessageType {
  readonly kind: 'message';
  readonly name: string;
  readonly goType: string;
  readonly fields: readonly MessageField[];
}

export interface MessageField {
  readonly goName: string;
  readonly protoName: string;
  readonly jsonName: string;
  /** The type of the field, or of the elements of a list or map. */
  readonly type: MessageType | EnumType | { readonly kind: ScalarKind };
  readonly cardinality: 'single' | 'list' | 'map';
  /** Whether an unset field differs from a field with the zero value. */
  readonly presence: boolean;
  /** The name of the oneof that contains the field. */
  readonly oneof: string | undefined;
}

const scalars: ReadonlySet<string> = new Set(scalarKinds);

const messageTable = readTable(meshMessages);
const enumTable = readTable(meshEnums);
const messages = new Map<string, MessageType>();
const enums = new Map<string, EnumType>();

/** Returns a message by full name, e.g. `istio.mesh.v1alpha1.ProxyConfig`. @throws Error */
export function messageType(name: string): MessageType {
  const known = messages.get(name);
  if (known !== undefined) return known;
  const entry = messageTable.get(name);
  if (entry === undefined) throw new Error(`the generated tables have no message ${name}`);
  const fields: MessageField[] = [];
  const type: MessageType = { kind: 'message', name, goType: entry.goType, fields };
  // Register before reading the fields: messages can be recursive.
  messages.set(name, type);
  for (const line of entry.lines) fields.push(readField(line));
  return type;
}

function enumType(name: string): EnumType | undefined {
  const known = enums.get(name);
  if (known !== undefined) return known;
  const entry = enumTable.get(name);
  if (entry === undefined) return undefined;
  const values = entry.lines.map((line): [string, number] => {
    const [value = '', number = ''] = line.split(' ');
    return [value, Number(number)];
  });
  const type: EnumType = {
    kind: 'enum',
    name,
    goType: entry.goType,
    numbers: new Map(values),
    names: new Map(values.map(([value, number]) => [number, value])),
  };
  enums.set(name, type);
  return type;
}

function readField(line: string): MessageField {
  const [goName = '', protoName = '', jsonName = '', , typeText = '', ...flags] = line.split(' ');
  const list = typeText.startsWith('[]');
  const map = typeText.startsWith('map[');
  const element = list ? typeText.slice(2) : map ? typeText.slice(typeText.indexOf(']') + 1) : typeText;
  return {
    goName,
    protoName,
    jsonName,
    type: scalars.has(element) ? { kind: element as ScalarKind } : (enumType(element) ?? messageType(element)),
    cardinality: list ? 'list' : map ? 'map' : 'single',
    presence: flags.includes('presence'),
    oneof: flags.find((flag) => flag.startsWith('oneof='))?.slice('oneof='.length),
  };
}
