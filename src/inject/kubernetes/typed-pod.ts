import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { customZeros, decodeCustom } from './custom-types.ts';
import type { ListType, MapType, ScalarType, StructField, StructType, ValueType } from './go-types.ts';
import { podType } from './pod-schema.ts';
import { describeJson, typeMismatch, type Place, type PodTypeError } from './pod-type-error.ts';

/**
 * What is left of a pod that Go decodes into corev1.Pod and encodes again, as Istio does between two overlays: unknown fields vanish, so do zero
 * values of fields with `omitempty`; fields without it appear (`containers: null`, `status: {}`); quantities and timestamps become canonical.
 *
 * Works for any struct of `podStruct`. The argument is not changed; whatever is canonical already is shared with the result, which is the argument
 * itself when nothing changes.
 * @param known A result of this function for the same type: parts that both share are canonical already and cost nothing.
 * @param items Items of lists and what became of them, for texts that are read more than once: looked up, and added to.
 * @throws PodTypeError with Go's message when a value does not fit its field
 */
export function normalisePod(
  pod: unknown,
  type: StructType = podType,
  known?: JsonObject,
  items?: CanonicalItems,
): JsonObject {
  const decoding = new Decoding(items);
  const result = decoding.struct(type, pod ?? {}, known);
  if (decoding.mistake !== undefined) throw decoding.mistake;
  return result;
}

/** Objects in lists, as they were read and as they are encoded; the type tells what they were read as. */
export type CanonicalItems = Map<object, { readonly type: ValueType; readonly canonical: unknown }>;

/** What a field that is left out is recognised by. */
const OMITTED = undefined;

/**
 * One decoding. Go goes on after a value of the wrong type and reports the first such value at the end, unless a type with a method of its own
 * (quantity, time) refuses a value: that ends the decoding.
 */
class Decoding {
  mistake: PodTypeError | undefined;
  readonly #place: Place = { struct: '', path: [] };
  readonly #items: CanonicalItems | undefined;

  constructor(items: CanonicalItems | undefined) {
    this.#items = items;
  }

  struct(type: StructType, value: unknown, known: unknown): JsonObject {
    if (!isJsonObject(value)) return this.#mismatch(type, value, {});
    const struct = this.#place.struct;
    const parts = isJsonObject(known) ? known : undefined;
    let result: JsonObject = value;
    let seen = 0;
    for (const name in value) {
      const member = value[name];
      const part = parts?.[name];
      // Canonical objects have canonical names only.
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
    this.#place.struct = struct;
    return addAlwaysEncoded(type, value, result);
  }

  /** The field's value as it is encoded, or OMITTED. */
  #field(struct: StructType, field: StructField, value: unknown, known: unknown): unknown {
    if (value === null || value === undefined) return zeroOfField(field);
    const { path } = this.#place;
    const depth = path.length;
    this.#place.struct = struct.localName;
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
        return decodeCustom(type, value, this.#place);
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

  #map(type: MapType, value: unknown): unknown {
    if (!isJsonObject(value)) return this.#mismatch(type, value, {});
    let result: JsonObject = value;
    for (const name in value) {
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

/** Whether an object is an item of a list that is canonical; most often the items stand in the order in which they are asked for. */
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

/** Whether a field is a scalar that is encoded as it is: most fields are. */
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

/** The members before the first one that changes: they are encoded as they are. */
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
  const { kind } = field.type;
  if (kind === 'struct' || kind === 'custom') return false;
  if (kind === 'list') return (value as unknown[]).length === 0;
  if (kind === 'map') return Object.keys(value as JsonObject).length === 0;
  return value === '' || value === false || value === 0;
}

/** What Go encodes for a field that was absent or null. */
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
