import { formatDuration } from '../../template/go-duration.ts';
import {
  type GoField,
  type GoMethod,
  type GoType,
  type StructType,
  int64Type,
  mapOf,
  pointerTo,
  sliceOf,
  stringType,
} from '../../template/go-type.ts';
import { property } from '../../template/typed-value.ts';
import { parseGoDuration } from '../mesh/go-duration.ts';
import type { EnumType, MessageField, MessageType } from '../mesh/message-type.ts';
import { escapeGoJson } from '../pod/go-json.ts';
import { describeMessage } from './describe-message.ts';
import { defaultProxyConfig } from '../mesh/proxy-config.ts';
import { jsonEqual } from '../patch/json-equal.ts';
import { isJsonObject } from '../patch/json-value.ts';

const proxyConfigName = 'istio.mesh.v1alpha1.ProxyConfig';
const structs = new Map<string, StructType>();

/**
 * A protobuf message as templates see it: Go's generated struct with its fields, getters that work on nil, and `String`. Its JSON form is the
 * canonical protobuf JSON of `decode-message.ts`.
 */
export function messageGoType(message: MessageType): StructType {
  const known = structs.get(message.name);
  if (known !== undefined) return known;
  let fields: readonly GoField[] | undefined;
  let methods: Readonly<Record<string, GoMethod>> | undefined;
  const struct: StructType = {
    kind: 'struct',
    name: message.goType,
    // Read when first needed: messages refer to each other in circles.
    get fields() {
      fields ??= goFields(message);
      return fields;
    },
    get methods() {
      methods ??= goMethods(message);
      return methods;
    },
    decode: (raw) => decodeWellKnown(message, raw),
    toJson: (raw) => escapeGoJson(JSON.stringify(raw)),
    protoToJson: (raw) =>
      escapeGoJson(JSON.stringify(message.name === proxyConfigName ? withoutProxyDefaults(raw) : raw)),
  };
  structs.set(message.name, struct);
  return struct;
}

/** The members of a oneof are not fields of the struct: they are reached through getters. */
function goFields(message: MessageType): GoField[] {
  return message.fields
    .filter(({ oneof }) => oneof === undefined)
    .map((field) => ({ name: field.goName, json: field.jsonName, type: fieldType(field) }));
}

function goMethods(message: MessageType): Record<string, GoMethod> {
  const methods: Record<string, GoMethod> = {
    String: { pointerReceiver: true, result: stringType, call: (raw) => describeMessage(message, raw) },
  };
  for (const field of message.fields) {
    methods[`Get${field.goName}`] = {
      pointerReceiver: true,
      result: fieldType(field),
      call: (raw) => property(decodeWellKnown(message, raw), field.jsonName),
    };
  }
  if (message.name === 'google.protobuf.Duration') {
    methods.AsDuration = { pointerReceiver: true, result: goDuration, call: nanoseconds };
  }
  return methods;
}

function fieldType(field: MessageField): GoType {
  const element = elementType(field);
  if (field.cardinality === 'list') return sliceOf(element);
  return field.cardinality === 'map' ? mapOf(element) : element;
}

function elementType({ type }: MessageField): GoType {
  switch (type.kind) {
    case 'message':
      return pointerTo(messageGoType(type));
    case 'enum':
      return enumGoType(type);
    case 'double':
      return { kind: 'float64' };
    case 'float':
      return { kind: 'float64' };
    case 'bytes':
      return stringType;
    default:
      return { kind: type.kind };
  }
}

const enums = new Map<string, GoType>();

function enumGoType(type: EnumType): GoType {
  const known = enums.get(type.name);
  if (known !== undefined) return known;
  const number = (raw: unknown): number =>
    typeof raw === 'string' ? (type.numbers.get(raw) ?? 0) : typeof raw === 'number' ? raw : 0;
  const result: GoType = {
    kind: 'int32',
    name: type.goType,
    decode: number,
    methods: { String: { result: stringType, call: (raw) => type.names.get(number(raw)) ?? String(number(raw)) } },
    toJson: (raw) => String(number(raw)),
  };
  enums.set(type.name, result);
  return result;
}

/** The fields of the messages whose JSON is no object: durations and wrappers. */
function decodeWellKnown(message: MessageType, raw: unknown): unknown {
  if (raw === null || raw === undefined || !message.name.startsWith('google.protobuf.')) return raw;
  if (message.name === 'google.protobuf.Duration' && typeof raw === 'string') {
    const { seconds, nanos } = parseGoDuration(raw);
    return { seconds: seconds.toString(), nanos };
  }
  return message.fields.length === 1 && message.fields[0]?.jsonName === 'value' ? { value: raw } : raw;
}

const nanosPerSecond = 1_000_000_000n;

function nanoseconds(raw: unknown): unknown {
  if (typeof raw !== 'string') return '0';
  const { seconds, nanos } = parseGoDuration(raw);
  return (seconds * nanosPerSecond + BigInt(nanos)).toString();
}

/** time.Duration. */
const goDuration: GoType = {
  kind: 'int64',
  name: 'time.Duration',
  methods: {
    String: { result: stringType, call: (raw) => formatDuration(BigInt(typeof raw === 'string' ? raw : 0)) },
    Seconds: { result: { kind: 'float64' }, call: (raw) => Number(raw) / 1e9 },
    Milliseconds: {
      result: int64Type,
      call: (raw) => (BigInt(typeof raw === 'string' ? raw : 0) / 1_000_000n).toString(),
    },
  },
};

/** A ProxyConfig without what the proxy assumes anyway, so that most pods carry `{}`. */
function withoutProxyDefaults(config: unknown): unknown {
  if (!isJsonObject(config)) return config;
  return Object.fromEntries(
    Object.entries(config).filter(([name, value]) => !jsonEqual(value, defaultProxyConfig[name])),
  );
}
