import { formatDuration } from '../../template/go-duration.ts';
import { sortedKeys } from '../../template/go-string.ts';
import {
  type GoField,
  type GoMethod,
  type GoType,
  type StructType,
  float64Type,
  int64Type,
  mapOf,
  pointerTo,
  sliceOf,
  stringType,
} from '../../template/go-type.ts';
import { property } from '../../template/typed-value.ts';
import { parseGoDuration } from '../mesh/go-duration.ts';
import type { EnumType, MessageField, MessageType } from '../mesh/message-type.ts';
import { escapeGoJson } from '../../template/functions/go/json-encode.ts';
import { stringMethod } from './custom-go-type.ts';
import { defaultProxyConfig } from '../mesh/proxy-config.ts';
import { jsonEqual } from '../patch/json-equal.ts';
import { isJsonObject } from '../patch/json-value.ts';

const proxyConfigName = 'istio.mesh.v1alpha1.ProxyConfig';
const structs = new Map<string, StructType>();

/**
 * Returns the template view of a protobuf message: Go's struct with fields, nil-safe getters and
 * `String`. Its JSON is the canonical form of `decode-message.ts`.
 */
export function messageGoType(message: MessageType): StructType {
  const known = structs.get(message.name);
  if (known !== undefined) return known;
  let fields: readonly GoField[] | undefined;
  let methods: Readonly<Record<string, GoMethod>> | undefined;
  const struct: StructType = {
    kind: 'struct',
    name: message.goType,
    // Lazy: messages refer to each other in cycles.
    get fields() {
      return (fields ??= goFields(message));
    },
    get methods() {
      return (methods ??= goMethods(message));
    },
    decode: (raw) => decodeWellKnown(message, raw),
    toJson: (raw) => escapeGoJson(JSON.stringify(raw)),
    protoToJson: (raw) =>
      escapeGoJson(JSON.stringify(message.name === proxyConfigName ? withoutProxyDefaults(raw) : raw)),
  };
  structs.set(message.name, struct);
  return struct;
}

/** Returns the struct fields; templates access members of a oneof through getters. */
function goFields(message: MessageType): GoField[] {
  return message.fields
    .filter(({ oneof }) => oneof === undefined)
    .map((field) => ({ name: field.goName, json: field.jsonName, type: fieldType(field) }));
}

function goMethods(message: MessageType): Record<string, GoMethod> {
  const methods: Record<string, GoMethod> = {
    String: stringMethod((raw) => describeMessage(message, raw), true),
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
    case 'float':
      return float64Type;
    case 'bytes':
      return stringType;
    default:
      return { kind: type.kind };
  }
}

function enumGoType(type: EnumType): GoType {
  const number = (raw: unknown): number =>
    typeof raw === 'string' ? (type.numbers.get(raw) ?? 0) : typeof raw === 'number' ? raw : 0;
  return {
    kind: 'int32',
    name: type.goType,
    decode: number,
    methods: { String: stringMethod((raw) => type.names.get(number(raw)) ?? String(number(raw)), false) },
    toJson: (raw) => String(number(raw)),
  };
}

/** Returns the fields of messages whose JSON is not an object: durations and wrappers. */
function decodeWellKnown(message: MessageType, raw: unknown): unknown {
  if (raw === null || raw === undefined || !message.name.startsWith('google.protobuf.')) return raw;
  if (message.name === 'google.protobuf.Duration' && typeof raw === 'string') {
    const { seconds, nanos } = parseGoDuration(raw);
    return { seconds: seconds.toString(), nanos };
  }
  return message.fields.length === 1 && message.fields[0]?.jsonName === 'value' ? { value: raw } : raw;
}

function nanoseconds(raw: unknown): unknown {
  if (typeof raw !== 'string') return '0';
  const { seconds, nanos } = parseGoDuration(raw);
  return (seconds * 1_000_000_000n + BigInt(nanos)).toString();
}

/** time.Duration in nanoseconds. */
const goDuration: GoType = {
  kind: 'int64',
  name: 'time.Duration',
  methods: {
    String: stringMethod((raw) => formatDuration(integerOf(raw)), false),
    Seconds: { result: float64Type, call: (raw) => Number(raw) / 1e9 },
    Milliseconds: { result: int64Type, call: (raw) => (integerOf(raw) / 1_000_000n).toString() },
  },
};

function integerOf(raw: unknown): bigint {
  return BigInt(typeof raw === 'string' ? raw : 0);
}

/** Removes proxy defaults, so that most pods have `{}`. */
function withoutProxyDefaults(config: unknown): unknown {
  if (!isJsonObject(config)) return config;
  return Object.fromEntries(
    Object.entries(config).filter(([name, value]) => !jsonEqual(value, defaultProxyConfig[name])),
  );
}

/** Formats like protobuf's `String`: `seconds:90`, `image_type:"debug"`; `<nil>` for nil. */
function describeMessage(type: MessageType, raw: unknown): string {
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
