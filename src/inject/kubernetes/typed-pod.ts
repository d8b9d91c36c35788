import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { customZeros, decodeCustom } from './custom-types.ts';
import type { ListType, PodMapType, PodScalarType, StructField, PodStructType, ValueType } from './go-types.ts';
import { podType } from './pod-schema.ts';
import { describeJson, typeMismatch, type DecoderPosition, type PodTypeError } from './pod-type-error.ts';

/**
 * Decodes and encodes a pod like Go's corev1.Pod, as Istio does between overlays: drops unknown
 * fields and zero values with `omitempty`; adds fields without `omitempty` (`containers: null`);
 * normalizes quantities and timestamps. Accepts any struct type. Never changes the argument. The
 * result shares canonical parts with the argument, and is the argument if nothing changes.
 * @param known an earlier result of the same type; shared parts are not decoded again
 * @param items a cache of list items, for texts that are decoded more than once
 * @throws PodTypeError with Go's message if a value has the wrong type
 */
export function normalisePod(
  pod: unknown,
  type: PodStructType = podType,
  known?: JsonObject,
  items?: CanonicalItems,
): JsonObject {
  const decoding = new Decoding(items);
  const result = decoding.struct(type, pod ?? {}, known);
  if (decoding.mistake !== undefined) throw decoding.mistake;
  return result;
}

/** List items before and after encoding, with their type. */
export type CanonicalItems = Map<object, { readonly type: ValueType; readonly canonical: unknown }>;

/** Marks a field to omit. */
const OMITTED = undefined;

/**
 * Decodes one value. Like Go, continues after a type error and reports the first error at the end.
 * An error from a custom type (quantity, time) ends the decoding.
 */
class Decoding {
  mistake: PodTypeError | undefined;
  readonly #position: DecoderPosition = { struct: '', path: [] };
  readonly #items: CanonicalItems | undefined;

  constructor(items: CanonicalItems | undefined) {
    this.#items = items;
  }

  struct(type: PodStructType, value: unknown, known: unknown): JsonObject {
    if (!isJsonObject(value)) return this.#mismatch(type, value, {});
    const struct = this.#position.struct;
    const parts = isJsonObject(known) ? known : undefined;
    let result: JsonObject = value;
    let seen = 0;
    for (const name in value) {
      const member = value[name];
      const part = parts?.[name];
      // This member is identical to the known member, so it is canonical.
      if (part !== undefined && part === member) {
        if (result !== value) setMember(result, name, member);
      } else {
        const exact = type.byName.get(name);
        const field = exact ?? type.byFoldedName.get(name.toLowerCase());
        const encoded =
          exact !== undefined && isCanonicalScalar(exact, member)
            ? member
            : field === undefined
              ? OMITTED
              : this.#field(type, field, member, part);
        if (result === value && (encoded !== member || field?.name !== name)) result = firstMembers(value, seen);
        if (result !== value && field !== undefined) writeMember(result, field.name, encoded);
      }
      seen += 1;
    }
    this.#position.struct = struct;
    return addAlwaysEncoded(type, value, result);
  }

  /** Returns the encoded value, or OMITTED. */
  #field(struct: PodStructType, field: StructField, value: unknown, known: unknown): unknown {
    if (value === null || value === undefined) return zeroOfField(field);
    const { path } = this.#position;
    const depth = path.length;
    this.#position.struct = struct.localName;
    for (const name of field.embeddedIn) path.push(name);
    path.push(field.name);
    const decoded = this.#value(field.type, value, known);
    while (path.length > depth) path.pop();
    return isOmitted(field, decoded) ? OMITTED : decoded;
  }

  #value(type: ValueType, value: unknown, known?: unknown): unknown {
    switch (type.kind) {
      case 'struct':
        return this.struct(type, value, known);
      case 'list':
        return this.#list(type, value, known);
      case 'map':
        return this.#map(type, value);
      case 'custom':
        return decodeCustom(type, value, this.#position);
      default:
        return isScalar(type, value) ? value : this.#mismatch(type, value, '');
    }
  }

  #list(type: ListType, value: unknown, known: unknown): unknown {
    if (!Array.isArray(value)) return this.#mismatch(type, value, []);
    const items: readonly unknown[] = value;
    const isKnown = Array.isArray(known) && known.length > 0 ? membership(known) : undefined;
    let result: unknown[] | undefined;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      const decoded = isKnown?.(item) === true ? item : this.#item(type, item);
      if (result === undefined && decoded !== item) result = items.slice(0, index);
      result?.push(decoded);
    }
    return result ?? items;
  }

  #item(type: ListType, item: unknown): unknown {
    if (item === null) return type.elementPointer ? null : zeroOf(type.element);
    if (this.#items === undefined || !isJsonObject(item)) return this.#value(type.element, item);
    const found = this.#items.get(item);
    if (found?.type === type.element) return found.canonical;
    const { mistake } = this;
    const canonical = this.#value(type.element, item);
    if (this.mistake === mistake) this.#items.set(item, { type: type.element, canonical });
    return canonical;
  }

  #map(type: PodMapType, value: unknown): unknown {
    if (!isJsonObject(value)) return this.#mismatch(type, value, {});
    let result: JsonObject = value;
    const { path } = this.#position;
    for (const name in value) {
      const item = value[name];
      // Like Go, names no key in an error of another type.
      if (type.value.kind === 'custom') path.push(name);
      const decoded = item === null ? zeroOf(type.value) : this.#value(type.value, item);
      if (type.value.kind === 'custom') path.pop();
      if (decoded === item) continue;
      if (result === value) result = { ...value };
      setMember(result, name, decoded);
    }
    return result;
  }

  /** Records the first error and continues with a value of the right shape. */
  #mismatch<T>(type: ValueType, value: unknown, standIn: T): T {
    const integer = type.kind === 'int32' || type.kind === 'int64';
    const found = integer && typeof value === 'number' ? `number ${value}` : describeJson(value);
    this.mistake ??= typeMismatch(this.#position, found, type.goName);
    return standIn;
  }
}

/** Returns a function that finds an item in a list. Fast if the items come in list order. */
function membership(known: readonly unknown[]): (item: unknown) => boolean {
  let next = 0;
  let rest: Set<unknown> | undefined;
  return (item) => {
    if (typeof item !== 'object' || item === null) return false;
    if (item === known[next]) {
      next += 1;
      return true;
    }
    rest ??= new Set(known);
    return rest.has(item);
  };
}

function isScalar(type: PodScalarType, value: unknown): boolean {
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

/** Reports whether a scalar is encoded unchanged, as most fields are. */
function isCanonicalScalar({ type, pointer, omitEmpty }: StructField, value: unknown): boolean {
  switch (type.kind) {
    case 'string':
    case 'bool':
    case 'int32':
    case 'int64':
      return isScalar(type, value) && (Boolean(value) || pointer || !omitEmpty);
    default:
      return false;
  }
}

/** Copies the unchanged members before the first change. */
function firstMembers(value: JsonObject, count: number): JsonObject {
  const result: JsonObject = {};
  let seen = 0;
  for (const name in value) {
    if (seen === count) break;
    setMember(result, name, value[name]);
    seen += 1;
  }
  return result;
}

/** Writes a member. A later spelling (`Name` after `name`) replaces or removes the member. */
function writeMember(result: JsonObject, name: string, encoded: unknown): void {
  if (encoded !== OMITTED) setMember(result, name, encoded);
  else if (Object.hasOwn(result, name)) Reflect.deleteProperty(result, name);
}

/** Adds the fields that Go always encodes. */
function addAlwaysEncoded(type: PodStructType, original: JsonObject, decoded: JsonObject): JsonObject {
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
  const { kind } = field.type;
  if (kind === 'struct' || kind === 'custom') return false;
  if (kind === 'list') return (value as unknown[]).length === 0;
  if (kind === 'map') return Object.keys(value as JsonObject).length === 0;
  return value === '' || value === false || value === 0;
}

/** Returns Go's encoding of an absent or null field. */
function zeroOfField(field: StructField): unknown {
  if (field.omitZero) return OMITTED;
  const nilable = field.pointer || field.type.kind === 'list' || field.type.kind === 'map';
  if (nilable) return field.omitEmpty ? OMITTED : null;
  if (field.omitEmpty && field.type.kind !== 'struct' && field.type.kind !== 'custom') return OMITTED;
  return zeroOf(field.type);
}

const zeros = { string: '', bool: false, int32: 0, int64: 0, list: null, map: null } as const;

function zeroOf(type: ValueType): unknown {
  if (type.kind === 'custom') return customZeros[type.format];
  if (type.kind !== 'struct') return zeros[type.kind];
  return Object.fromEntries(type.alwaysEncoded.map((field) => [field.name, zeroOfField(field)]));
}
