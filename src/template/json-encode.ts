import { GoFunction } from './go-function.ts';
import { canonical, hasStrayBytes, sortedKeys } from './go-string.ts';
import type { GoField, GoType, StructType } from './go-type.ts';
import { Complex, Integer } from './integer.ts';
import { readField, typed, TypedValue } from './typed-value.ts';
import { isTrue, kindOf, rawElements, rawEntries, typeNameOf, typeOf, underlying } from './value-kind.ts';

/** How JSON is written. */
export interface JsonStyle {
  /** `<`, `>` and `&` as \u003c …, as Go does by default. */
  readonly escapeHtml: boolean;
  /** Two spaces per level and line breaks; otherwise no white space at all. */
  readonly indented: boolean;
}

const compact: JsonStyle = { escapeHtml: true, indented: false };

/**
 * Go's json.Marshal of a template value: map keys sorted, struct fields in order, HTML characters escaped.
 *
 * @throws Error for values that JSON cannot hold: NaN, infinities, functions, complex numbers.
 */
export function encodeJson(value: unknown, style: JsonStyle = compact): string {
  return new JsonEncoder(style).value(value, '\n');
}

const special = /[<>&\u2028\u2029]/;
/** How JSON.stringify writes a stray byte (a lone surrogate), or a backslash. */
const strayByte = /\\(?:\\|udc[89a-f][0-9a-f])/g;

class JsonEncoder {
  readonly #style: JsonStyle;

  constructor(style: JsonStyle) {
    this.#style = style;
  }

  /** @param line What begins a new line at this level, when the style is indented. */
  value(value: unknown, line: string): string {
    switch (typeof value) {
      case 'string':
        return this.#string(value);
      case 'number':
        return encodeNumber(value);
      case 'boolean':
      case 'bigint':
        return String(value);
      default:
        return this.#object(value, line);
    }
  }

  #string(text: string): string {
    // A byte that is no text is an escape; U+FFFD itself is not.
    const quoted = hasStrayBytes(text)
      ? JSON.stringify(canonical(text)).replace(strayByte, (escape) => (escape === '\\\\' ? escape : '\\ufffd'))
      : JSON.stringify(text);
    if (!special.test(quoted)) return quoted;
    return quoted.replace(this.#style.escapeHtml ? /[<>&\u2028\u2029]/g : /[\u2028\u2029]/g, (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
  }

  #object(value: unknown, line: string): string {
    if (value === undefined || value === null) return 'null';
    if (value instanceof GoFunction || value instanceof Complex)
      throw new Error(`json: unsupported type: ${typeNameOf(value)}`);
    if (value instanceof Integer) return String(value.value);
    if (value instanceof TypedValue) {
      if (value.isNil) return 'null';
      const { type } = value;
      if (type.kind === 'pointer') return this.value(typed(type.element, value.raw, true), line);
      if (type.toJson !== undefined) return type.toJson(value.raw);
      if (type.kind === 'struct') return this.#members(structMembers(value, type), line);
    }
    switch (kindOf(value)) {
      case 'slice':
        return this.#list(value, line);
      case 'map':
        return this.#map(value, line);
      default:
        return this.value(underlying(value), line);
    }
  }

  #list(list: unknown, line: string): string {
    const { element } = typeOf(list) as GoType & { readonly element: GoType };
    const inner = `${line}  `;
    return this.#enclose(
      '[]',
      rawElements(list).map((raw) => this.value(typed(element, raw, true), inner)),
      line,
    );
  }

  #map(map: unknown, line: string): string {
    const { element } = typeOf(map) as GoType & { readonly element: GoType };
    const entries = rawEntries(map);
    return this.#members(
      sortedKeys(entries).map((key) => [key, typed(element, entries[key])]),
      line,
    );
  }

  #members(members: readonly (readonly [string, unknown])[], line: string): string {
    const colon = this.#style.indented ? ': ' : ':';
    const inner = `${line}  `;
    return this.#enclose(
      '{}',
      members.map(([name, value]) => this.#string(name) + colon + this.value(value, inner)),
      line,
    );
  }

  #enclose(brackets: string, items: readonly string[], line: string): string {
    const open = brackets.charAt(0);
    const close = brackets.charAt(1);
    if (!this.#style.indented || items.length === 0) return open + items.join(',') + close;
    return `${open}${line}  ${items.join(`,${line}  `)}${line}${close}`;
  }
}

/** A float64 as Go writes it: JavaScript's notation has the same thresholds, but loses the sign of zero. */
function encodeNumber(value: number): string {
  if (!Number.isFinite(value))
    throw new Error(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
  return Object.is(value, -0) ? '-0' : String(value);
}

/** A struct's JSON members: omitted fields left out, embedded ones flattened. */
function structMembers(struct: TypedValue, type: StructType): [string, unknown][] {
  const members: [string, unknown][] = [];
  for (const field of type.fields) {
    const value = readField(struct, field);
    if (field.inline === true && field.type.kind === 'struct') {
      members.push(...structMembers(value as TypedValue, field.type));
    } else if (!isOmitted(field, value)) {
      members.push([field.json, value]);
    }
  }
  return members;
}

function isOmitted(field: GoField, value: unknown): boolean {
  if (field.omitEmpty === true && !isTrue(value)) return true;
  if (field.omitZero !== true) return false;
  return field.type.kind === 'struct' ? (value as TypedValue).raw === undefined : !isTrue(value);
}
