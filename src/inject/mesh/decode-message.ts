import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { describeJson } from '../kubernetes/pod-type-error.ts';
import { formatProtoDuration, parseGoDuration } from './go-duration.ts';
import type { EnumType, MessageField, MessageType, ScalarKind } from './message-type.ts';

/** An error with the message of Go's jsonpb, which appears in admission responses. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

/** A message as canonical protobuf JSON: in declaration order, without zero values. */
export type Message = Readonly<JsonObject>;

/**
 * Sets fields from `json` like `jsonpb.Unmarshal`: replaces whole fields, ignores null and unknown
 * fields, clears a field whose value is zero or empty. Accepts both spellings and quoted integers.
 * @throws MessageError
 */
export function applyToMessage(type: MessageType, base: Message, json: unknown): Message {
  if (json === null || json === undefined) return base;
  if (!isJsonObject(json)) throw mismatch(json, 'map[string]json.RawMessage');
  const values = new Map<string, unknown>();
  const set = new Set<string>();
  for (const field of type.fields) {
    const value = inputOf(field, json);
    if (value === undefined || value === null) continue;
    // A new member of a oneof clears the other members.
    if (field.oneof !== undefined) {
      for (const other of type.fields) if (other.oneof === field.oneof) values.delete(other.jsonName);
      set.add(field.oneof);
    }
    values.set(field.jsonName, decodeField(field, value));
  }
  const result: JsonObject = {};
  for (const { jsonName, oneof } of type.fields) {
    const value = values.has(jsonName)
      ? values.get(jsonName)
      : oneof !== undefined && set.has(oneof)
        ? undefined
        : base[jsonName];
    if (value !== undefined) result[jsonName] = value;
  }
  return result;
}

/** Decodes a message to canonical form. @throws MessageError */
export function decodeMessage(type: MessageType, json: unknown): unknown {
  if (type.name.startsWith('google.protobuf.')) return decodeWellKnown(type, json);
  return applyToMessage(type, {}, json);
}

/** Returns the value of a field. Prefers the JSON name over the proto name. */
function inputOf(field: MessageField, json: JsonObject): unknown {
  if (Object.hasOwn(json, field.jsonName)) return json[field.jsonName];
  return Object.hasOwn(json, field.protoName) ? json[field.protoName] : undefined;
}

/** Returns a field's canonical value; `undefined` to omit the field. */
function decodeField(field: MessageField, value: unknown): unknown {
  switch (field.cardinality) {
    case 'list': {
      if (!Array.isArray(value)) throw mismatch(value, '[]json.RawMessage');
      return value.length === 0 ? undefined : value.map((item: unknown) => decodeValue(field, item));
    }
    case 'map': {
      if (!isJsonObject(value)) throw mismatch(value, 'map[string]json.RawMessage');
      const keys = Object.keys(value).sort();
      const result: JsonObject = {};
      for (const key of keys) setMember(result, key, decodeValue(field, value[key]));
      return keys.length === 0 ? undefined : result;
    }
    case 'single': {
      const decoded = decodeValue(field, value);
      return field.presence || !isZero(decoded, field) ? decoded : undefined;
    }
  }
}

function isZero(value: unknown, field: MessageField): boolean {
  if (field.type.kind === 'enum') return value === field.type.names.get(0) || value === 0;
  const isLong = field.type.kind === 'int64' || field.type.kind === 'uint64';
  return value === 0 || value === '' || value === false || (isLong && value === '0');
}

function decodeValue(field: MessageField, value: unknown): unknown {
  switch (field.type.kind) {
    case 'message':
      return decodeMessage(field.type, value);
    case 'enum':
      return decodeEnum(field.type, value);
    default:
      return decodeScalar(field.type.kind, value);
  }
}

function decodeEnum(type: EnumType, value: unknown): unknown {
  if (typeof value === 'string') {
    if (type.numbers.has(value)) return value;
    throw new MessageError(`unknown value ${JSON.stringify(JSON.stringify(value))} for enum ${type.name}`);
  }
  const number = decodeInteger('int32', value ?? 0, 'protoreflect.EnumNumber');
  return type.names.get(Number(number)) ?? number;
}

function decodeScalar(kind: ScalarKind, value: unknown): unknown {
  switch (kind) {
    case 'string':
    case 'bytes':
      if (value === null) return '';
      if (typeof value !== 'string') throw mismatch(value, kind === 'bytes' ? '[]uint8' : 'string');
      return value;
    case 'bool':
      if (value === null) return false;
      if (typeof value !== 'boolean') throw mismatch(value, 'bool');
      return value;
    case 'double':
    case 'float':
      return decodeFloat(value ?? 0, kind === 'double' ? 'float64' : 'float32');
    default:
      return decodeInteger(kind, value ?? 0, kind);
  }
}

function decodeFloat(value: unknown, goType: string): unknown {
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return value;
  const number = unquote(value);
  if (typeof number !== 'number') throw mismatch(number, goType);
  return number;
}

const bounds = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const;

/** Decodes an integer. In protobuf JSON, 64-bit integers are strings; the others are numbers. */
function decodeInteger(kind: keyof typeof bounds, value: unknown, goType: string): number | string {
  const number = unquote(value);
  if (typeof number !== 'number') throw mismatch(number, goType);
  const [low, high] = bounds[kind];
  // A quoted number must be written as an integer; YAML has converted unquoted whole numbers.
  const isWritten = typeof value !== 'string' || /^\s*-?\d+\s*$/.test(value);
  const exact = isWritten && Number.isInteger(number) ? exactInteger(value, number) : undefined;
  if (exact === undefined || exact < low || exact > high) {
    const written = typeof value === 'string' ? value.trim() : number;
    throw new MessageError(`json: cannot unmarshal number ${written} into Go value of type ${goType}`);
  }
  return kind === 'int64' || kind === 'uint64' ? exact.toString() : Number(exact);
}

/** Avoids a conversion to number, which would lose digits of quoted integers beyond 2^53. */
function exactInteger(value: unknown, number: number): bigint {
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : BigInt(number);
}

/** Parses a quoted number as JSON, like jsonpb. */
function unquote(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    const first = value.trimStart().charAt(0);
    throw new MessageError(
      first === '' ? 'unexpected end of JSON input' : `invalid character '${first}' looking for beginning of value`,
    );
  }
}

function decodeWellKnown(type: MessageType, json: unknown): unknown {
  if (type.name === 'google.protobuf.Duration') return decodeDuration(json);
  if (type.name === 'google.protobuf.Struct') {
    if (isJsonObject(json)) return json;
    throw new MessageError(`bad StructValue: ${mismatch(json, 'map[string]json.RawMessage').message}`);
  }
  // A wrapper is a message with one field whose JSON is only the value.
  const [field] = type.fields;
  if (field === undefined) throw new Error(`${type.name} has no field`);
  return decodeValue(field, json);
}

function decodeDuration(json: unknown): string {
  if (json === null) return '0s';
  if (typeof json !== 'string') throw mismatch(json, 'string');
  try {
    return formatProtoDuration(parseGoDuration(json));
  } catch (error) {
    throw new MessageError(`bad Duration: ${(error as Error).message}`, { cause: error });
  }
}

function mismatch(value: unknown, goType: string): MessageError {
  return new MessageError(`json: cannot unmarshal ${describeJson(value)} into Go value of type ${goType}`);
}
