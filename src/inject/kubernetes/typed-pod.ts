import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { decodeCustom, zeroOfCustom } from './custom-types.ts';
import type { ListType, MapType, ScalarType, StructField, StructType, ValueType } from './go-types.ts';
import { podType } from './pod-schema.ts';
import { describeJson, typeMismatch, type Place, type PodTypeError } from './pod-type-error.ts';

/**
 * What is left of a pod that Go decodes into corev1.Pod and encodes again, as Istio does between two overlays: unknown fields vanish, so do zero
 * values of fields with `omitempty`; fields without it appear (`containers: null`, `status: {}`); quantities and timestamps become canonical.
 *
 * Works for any struct of `podStruct`. The argument is not changed; whatever is canonical already is shared with the result, which is the argument
 * itself when nothing changes.
 * @throws PodTypeError with Go's message when a value does not fit its field
 */
export function normalisePod(pod: unknown, type: StructType = podType): JsonObject {
  const decoding = new Decoding();
  const result = decoding.struct(type, pod ?? {});
  if (decoding.mistake !== undefined) throw decoding.mistake;
  return result;
}

/** What a field that is left out is recognised by. */
const OMITTED = undefined;

/**
 * One decoding. Go goes on after a value of the wrong type and reports the first such value at the end, unless a type with a method of its own
 * (quantity, time) refuses a value: that ends the decoding.
 */
class Decoding {
  mistake: PodTypeError | undefined;
  readonly #place: Place = { struct: '', path: [] };

  struct(type: StructType, value: unknown): JsonObject {
    if (!isJsonObject(value)) return this.#mismatch(type, value, {});
    const struct = this.#place.struct;
    let result: JsonObject = value;
    let seen = 0;
    for (const name of Object.keys(value)) {
      const member = value[name];
      const field = type.byName.get(name) ?? type.byFoldedName.get(name.toLowerCase());
      const encoded = field === undefined ? OMITTED : this.#field(type, field, member);
      if (result === value && (encoded !== member || field?.name !== name)) result = firstMembers(value, seen);
      if (result !== value && field !== undefined) writeMember(result, field.name, encoded);
      seen += 1;
    }
    this.#place.struct = struct;
    return addAlwaysEncoded(type, value, result);
  }

  /** The field's value as it is encoded, or OMITTED. */
  #field(struct: StructType, field: StructField, value: unknown): unknown {
    if (value === null || value === undefined) return zeroOfField(field);
    const { path } = this.#place;
    const depth = path.length;
    this.#place.struct = struct.localName;
    for (const name of field.embeddedIn) path.push(name);
    path.push(field.name);
    const decoded = this.#value(field.type, value);
    path.length = depth;
    return isOmitted(field, decoded) ? OMITTED : decoded;
  }

  #value(type: ValueType, value: unknown): unknown {
    switch (type.kind) {
      case 'struct':
        return this.struct(type, value);
      case 'list':
        return this.#list(type, value);
      case 'map':
        return this.#map(type, value);
      case 'custom':
        return decodeCustom(type, value, this.#place);
      default:
        return isScalar(type, value) ? value : this.#mismatch(type, value, '');
    }
  }

  #list(type: ListType, value: unknown): unknown {
    if (!Array.isArray(value)) return this.#mismatch(type, value, []);
    const items: readonly unknown[] = value;
    const decoded = items.map((item) => (item === null ? zeroOfItem(type) : this.#value(type.element, item)));
    return decoded.every((item, index) => item === items[index]) ? items : decoded;
  }

  #map(type: MapType, value: unknown): unknown {
    if (!isJsonObject(value)) return this.#mismatch(type, value, {});
    let result: JsonObject = value;
    for (const name of Object.keys(value)) {
      const item = value[name];
      const decoded = item === null ? zeroOf(type.value) : this.#value(type.value, item);
      if (decoded === item) continue;
      if (result === value) result = { ...value };
      setMember(result, name, decoded);
    }
    return result;
  }

  /** Notes the first mistake and goes on with something of the right shape. */
  #mismatch<T>(type: ValueType, value: unknown, standIn: T): T {
    const integer = type.kind === 'int32' || type.kind === 'int64';
    const found = integer && typeof value === 'number' ? `number ${value}` : describeJson(value);
    this.mistake ??= typeMismatch(this.#place, found, type.goName);
    return standIn;
  }
}

function isScalar(type: ScalarType, value: unknown): boolean {
  switch (type.kind) {
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'int32':
      return typeof value === 'number' && value === (value | 0);
    case 'int64':
      return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 63;
  }
}

/** The members before the first one that changes: they are encoded as they are. */
function firstMembers(value: JsonObject, count: number): JsonObject {
  const result: JsonObject = {};
  for (const name of Object.keys(value).slice(0, count)) setMember(result, name, value[name]);
  return result;
}

/** A later spelling of the same field (`Name` after `name`) wins, also when it says that the field is left out. */
function writeMember(result: JsonObject, name: string, encoded: unknown): void {
  if (encoded !== OMITTED) setMember(result, name, encoded);
  else if (Object.hasOwn(result, name)) Reflect.deleteProperty(result, name);
}

/** Adds the fields that Go encodes whether they were there or not. */
function addAlwaysEncoded(type: StructType, original: JsonObject, decoded: JsonObject): JsonObject {
  let result = decoded;
  for (const field of type.alwaysEncoded) {
    if (Object.hasOwn(result, field.name)) continue;
    if (result === original) result = { ...original };
    result[field.name] = zeroOfField(field);
  }
  return result;
}

function isOmitted(field: StructField, value: unknown): boolean {
  if (field.omitZero && value === null) return true;
  if (!field.omitEmpty || field.pointer) return false;
  switch (field.type.kind) {
    case 'list':
      return (value as unknown[]).length === 0;
    case 'map':
      return Object.keys(value as JsonObject).length === 0;
    case 'struct':
    case 'custom':
      return false;
    default:
      return value === '' || value === false || value === 0;
  }
}

/** What Go encodes for a field that was absent or null. */
function zeroOfField(field: StructField): unknown {
  if (field.omitZero) return OMITTED;
  const nilable = field.pointer || field.type.kind === 'list' || field.type.kind === 'map';
  if (nilable) return field.omitEmpty ? OMITTED : null;
  if (field.omitEmpty && field.type.kind !== 'struct' && field.type.kind !== 'custom') return OMITTED;
  return zeroOf(field.type);
}

function zeroOfItem(type: ListType): unknown {
  return type.elementPointer ? null : zeroOf(type.element);
}

function zeroOf(type: ValueType): unknown {
  switch (type.kind) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
      return 0;
    case 'list':
    case 'map':
      return null;
    case 'custom':
      return zeroOfCustom(type);
    case 'struct':
      return Object.fromEntries(type.alwaysEncoded.map((field) => [field.name, zeroOfField(field)]));
  }
}
