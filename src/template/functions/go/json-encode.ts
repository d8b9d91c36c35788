import { GoFunction } from './go-function.ts';
import { canonical, hasStrayBytes, sortedKeys } from '../../go-string.ts';
import type { GoField, StructType } from '../../go-type.ts';
import { Complex, Integer } from '../../integer.ts';
import { mapCost, type Meter } from '../../exec/meter.ts';
import { readField, typed, TypedValue } from '../../typed-value.ts';
import { elementType, isTrue, kindOf, rawElements, rawEntries, typeNameOf, underlying } from '../../value-kind.ts';

const compact = {
  /** Writes `<`, `>` and `&` as \u003c …, like Go's default. */
  escapeHtml: true,
  /** Writes line breaks and two spaces per level; otherwise no white space. */
  indented: false,
};

export type JsonStyle = Readonly<typeof compact>;

/**
 * Go's json.Marshal of a template value: sorts map keys but not struct fields, escapes HTML.
 * @throws Error for values that JSON cannot hold: NaN, infinities, functions, complex numbers
 */
export function encodeJson(value: unknown, meter: Meter, style: JsonStyle = compact): string {
  return new JsonEncoder(style, meter).value(value, 0);
}

const special = /[<>&\u2028\u2029]/;
/** JSON.stringify's form of a stray byte (a lone surrogate) or a backslash. */
const strayByte = /\\(?:\\|udc[89a-f][0-9a-f])/g;

class JsonEncoder {
  readonly #style: JsonStyle;
  readonly #meter: Meter;

  constructor(style: JsonStyle, meter: Meter) {
    this.#style = style;
    this.#meter = meter;
  }

  /** @param depth the number of lists and maps around the value */
  value(value: unknown, depth: number): string {
    this.#meter.visit(depth);
    if (this.#style.indented) this.#meter.spend(2 * depth);
    switch (typeof value) {
      case 'string':
        return this.#string(value);
      case 'number':
        return encodeNumber(value);
      case 'boolean':
      case 'bigint':
        return String(value);
      default:
        return this.#object(value, depth);
    }
  }

  #string(text: string): string {
    // Escapes are up to six times as long as the text.
    this.#meter.spend(text.length * 2);
    // A stray byte becomes an escape; U+FFFD itself does not.
    const quoted = hasStrayBytes(text)
      ? JSON.stringify(canonical(text)).replace(strayByte, (escape) => (escape === '\\\\' ? escape : '\\ufffd'))
      : JSON.stringify(text);
    return special.test(quoted) ? escapeGoJson(quoted, this.#style.escapeHtml) : quoted;
  }

  #object(value: unknown, depth: number): string {
    if (value === undefined || value === null) return 'null';
    if (value instanceof GoFunction || value instanceof Complex)
      throw new Error(`json: unsupported type: ${typeNameOf(value)}`);
    if (value instanceof Integer) return String(value.value);
    if (value instanceof TypedValue) {
      if (value.isNil) return 'null';
      const { type } = value;
      if (type.kind === 'pointer') return this.value(typed(type.element, value.raw, true), depth);
      if (type.toJson !== undefined) {
        const own = type.toJson(value.raw);
        this.#meter.spend(own.length);
        return own;
      }
      if (type.kind === 'struct') return this.#members(structMembers(value, type, this.#meter), depth);
    }
    switch (kindOf(value)) {
      case 'slice':
        return this.#list(value, depth);
      case 'map':
        return this.#map(value, depth);
      default:
        return this.value(underlying(value), depth);
    }
  }

  #list(list: unknown, depth: number): string {
    const type = elementType(list);
    const items = rawElements(list).map((raw) => this.value(typed(type, raw, true), depth + 1));
    return this.#enclose('[]', items, depth);
  }

  #map(map: unknown, depth: number): string {
    const type = elementType(map);
    const entries = rawEntries(map);
    this.#meter.spend(mapCost(entries));
    const members = sortedKeys(entries).map((key) => [key, typed(type, entries[key])] as const);
    return this.#members(members, depth);
  }

  #members(members: readonly (readonly [string, unknown])[], depth: number): string {
    const colon = this.#style.indented ? ': ' : ':';
    const items = members.map(([name, value]) => this.#string(name) + colon + this.value(value, depth + 1));
    return this.#enclose('{}', items, depth);
  }

  #enclose(brackets: string, items: readonly string[], depth: number): string {
    // Each level copies the text of the deeper levels.
    this.#meter.spend(items.reduce((length, item) => length + item.length, 0) >> 2);
    const open = brackets.charAt(0);
    const close = brackets.charAt(1);
    if (!this.#style.indented || items.length === 0) return open + items.join(',') + close;
    const line = `\n${'  '.repeat(depth)}`;
    return `${open}${line}  ${items.join(`,${line}  `)}${line}${close}`;
  }
}

/** Escapes the characters that Go's encoding/json escapes in addition to JSON's rules. */
export function escapeGoJson(json: string, escapeHtml = true): string {
  return json.replace(
    escapeHtml ? /[<>&\u2028\u2029]/g : /[\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Formats a float64. JavaScript uses exponents where Go does, but loses the sign of zero. */
function encodeNumber(value: number): string {
  if (!Number.isFinite(value))
    throw new Error(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Returns a struct's JSON members: skips omitted fields, and inlines embedded structs. */
function structMembers(struct: TypedValue, type: StructType, meter: Meter): [string, unknown][] {
  const members: [string, unknown][] = [];
  for (const field of type.fields) {
    const value = readField(struct, field);
    if (field.inline === true && field.type.kind === 'struct') {
      members.push(...structMembers(value as TypedValue, field.type, meter));
    } else if (!isOmitted(field, value, meter)) {
      members.push([field.json, value]);
    }
  }
  return members;
}

function isOmitted(field: GoField, value: unknown, meter: Meter): boolean {
  if (field.omitEmpty === true && !isTrue(value, meter)) return true;
  if (field.omitZero !== true) return false;
  return field.type.kind === 'struct' ? (value as TypedValue).raw === undefined : !isTrue(value, meter);
}
