import { typeName, type GoType, type MapType, type SliceType, type StructType } from '../../go-type.ts';
import { canonical, sortedKeys, toBytes } from '../../go-string.ts';
import { formatFloatVerb, formatInteger, formatUnicode, noFlags, pad, type Flags } from './format-flags.ts';
import { mapCost, type Meter } from '../../exec/meter.ts';
import { Complex, Integer } from '../../integer.ts';
import { quoteString } from '../../quote.ts';
import { isNil, readField, typed, TypedValue } from '../../typed-value.ts';
import { kindOf, rawElements, rawEntries, typeNameOf, typeOf, underlying } from '../../value-kind.ts';

/** Go's addresses differ between runs; ours are constant. */
const someAddress = 0xc000012000n;

const bases: Readonly<Record<string, 2 | 8 | 10 | 16>> = { b: 2, o: 8, O: 8, d: 10, x: 16, X: 16 };
const floatVerbs = 'vbgGxXfFeE';
/** The strconv formats for verbs that strconv does not know. */
const floatFormats: Readonly<Record<string, string>> = { v: 'g', F: 'f' };

/** Formats single values as Go's package fmt does, with a verb and the flags of a format. */
export class Printer {
  flags: Flags = { ...noFlags };
  /** Whether a bad verb is being described. While true, no method is called. */
  #erroring = false;
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Formats an argument; `undefined` and `null` are Go's nil. */
  argument(value: unknown, verb: string): string {
    const { width = 0, precision = 0 } = this.flags;
    this.#meter.spend(width + precision);
    if (value === undefined || value === null)
      return verb === 'T' || verb === 'v' ? pad(this.flags, '<nil>') : this.#badVerb(value, verb);
    if (verb === 'T') return this.#text(typeNameOf(value));
    if (verb === 'p') return this.#pointer(value, 'p');
    return this.#value(value, verb, 0);
  }

  #badVerb(value: unknown, verb: string): string {
    if (value === undefined || value === null) return `%!${verb}(<nil>)`;
    const before = this.#erroring;
    this.#erroring = true;
    const text = `%!${verb}(${typeNameOf(value)}=${this.#value(value, 'v', 0)})`;
    this.#erroring = before;
    return text;
  }

  /** Formats a value, which may be padded to the width. */
  #value(value: unknown, verb: string, depth: number): string {
    const { width = 0, precision = 0 } = this.flags;
    this.#meter.visit(depth);
    this.#meter.spend(width + precision);
    const described = this.#describe(value, verb);
    if (described !== undefined) return described;
    const plain = underlying(value);
    switch (typeof plain) {
      case 'string':
        return this.#string(plain, value, verb);
      case 'boolean':
        return verb === 't' || verb === 'v' ? pad(this.flags, String(plain)) : this.#badVerb(value, verb);
      case 'number':
        return this.#float(plain, value, verb);
      case 'bigint':
        return this.#integer(plain, true, value, verb);
      default:
        if (plain instanceof Integer) return this.#integer(plain.value, !plain.kind.startsWith('u'), value, verb);
        if (plain instanceof Complex) return this.#complex(plain, verb);
        return this.#composite(plain, verb, depth);
    }
  }

  /** Returns the result of the value's String method, for verbs that print strings. */
  #describe(value: unknown, verb: string): string | undefined {
    if (this.#erroring) return undefined;
    if (verb === 'w') return this.#badVerb(value, verb);
    if (!'vsxXq'.includes(verb) || !(value instanceof TypedValue)) return undefined;
    const { type } = value;
    const method = (type.kind === 'pointer' ? type.element : type).methods?.[this.flags.sharpV ? 'GoString' : 'String'];
    if (method === undefined || (method.pointerReceiver === true && type.kind !== 'pointer')) return undefined;
    // A method on T panics when called through a nil *T; fmt then prints <nil>.
    if (value.isNil && type.kind === 'pointer' && method.pointerReceiver !== true) return '<nil>';
    const text = String(method.call(value.raw));
    return this.flags.sharpV ? this.#text(text) : this.#string(text, value, verb);
  }

  #string(text: string, value: unknown, verb: string): string {
    this.#meter.spend(text.length);
    switch (verb) {
      case 'v':
        return this.flags.sharpV ? this.#quoted(text) : this.#text(text);
      case 's':
        return this.#text(text);
      case 'x':
      case 'X':
        return this.#hexadecimal(text, verb);
      case 'q':
        return this.#quoted(text);
      default:
        return this.#badVerb(value, verb);
    }
  }

  #truncate(text: string): string {
    const { precision } = this.flags;
    return precision === undefined ? text : Array.from(canonical(text)).slice(0, precision).join('');
  }

  #text(text: string): string {
    return pad(this.flags, this.#truncate(text));
  }

  #quoted(text: string): string {
    const kept = this.#truncate(text);
    // Raw strings cannot contain backquotes, controls other than tab, or stray bytes.
    if (this.flags.sharp && !/[^\t -_a-~\x80-\ud7ff\ue000-\ufefe\uff00-\u{10ffff}]/u.test(kept))
      return pad(this.flags, `\`${kept}\``);
    return pad(this.flags, quoteString(kept, '"', this.flags.plus));
  }

  #hexadecimal(text: string, verb: string): string {
    this.#meter.spend(text.length * 8);
    const { precision, space, sharp } = this.flags;
    const prefix = sharp ? '0x' : '';
    const bytes = Array.from(toBytes(text).subarray(0, precision), (byte) => byte.toString(16).padStart(2, '0'));
    const groups = space || bytes.length === 0 ? bytes : [bytes.join('')];
    const shown = groups.map((group) => prefix + group).join(' ');
    return pad(this.flags, verb === 'X' ? shown.toUpperCase() : shown);
  }

  #float(number: number, value: unknown, verb: string): string {
    if (!floatVerbs.includes(verb)) return this.#badVerb(value, verb);
    const format = floatFormats[verb] ?? verb;
    return formatFloatVerb(this.flags, number, format, /[eEf]/.test(format) ? 6 : -1);
  }

  #integer(number: bigint, signed: boolean, value: unknown, verb: string): string {
    const { flags } = this;
    const base = bases[verb];
    if (base !== undefined) return formatInteger(flags, number, base, verb);
    switch (verb) {
      case 'v':
        return flags.sharpV && !signed
          ? formatInteger({ ...flags, sharp: true }, number, 16, 'v')
          : formatInteger(flags, number, 10, 'd');
      case 'c':
        return pad(flags, codePoint(number));
      case 'q':
        return pad(flags, quoteString(codePoint(number), "'", flags.plus));
      case 'U':
        return formatUnicode(flags, BigInt.asUintN(64, number));
      default:
        return this.#badVerb(value, verb);
    }
  }

  #complex(value: Complex, verb: string): string {
    if (!floatVerbs.includes(verb)) return this.#badVerb(value, verb);
    const { plus } = this.flags;
    const real = this.#float(value.real, value, verb);
    this.flags.plus = true;
    const imaginary = this.#float(value.imaginary, value, verb);
    this.flags.plus = plus;
    return `(${real}${imaginary}i)`;
  }

  #composite(value: unknown, verb: string, depth: number): string {
    const kind = kindOf(value);
    if (kind === 'struct') return this.#struct(value as TypedValue & { readonly type: StructType }, verb, depth);
    if (kind !== 'slice' && kind !== 'map') return this.#pointer(value, verb, depth);
    const { sharpV } = this.flags;
    if (sharpV && isNil(value)) return `${typeNameOf(value)}(nil)`;
    const type = typeOf(value) as SliceType | MapType;
    const nested = (raw: unknown): string => this.#nested(type.element, typed(type.element, raw), verb, depth);
    let items: string[];
    if (type.kind === 'slice') {
      items = rawElements(value).map(nested);
    } else {
      const entries = rawEntries(value);
      this.#meter.spend(mapCost(entries));
      const keyed = (key: string): string =>
        `${this.#value(typed(type.key, key), verb, depth + 1)}:${nested(entries[key])}`;
      items = sortedKeys(entries).map(keyed);
    }
    // Each level copies the text of the deeper levels.
    this.#meter.spend(items.reduce((length, item) => length + item.length, 0) >> 2);
    if (sharpV) return `${typeNameOf(value)}{${items.join(', ')}}`;
    return `${kind === 'map' ? 'map' : ''}[${items.join(' ')}]`;
  }

  /** Formats an element; a nil `interface {}` prints the same for every verb. */
  #nested(type: GoType, value: unknown, verb: string, depth: number): string {
    if (value === null) return this.flags.sharpV ? `${typeName(type)}(nil)` : '<nil>';
    return this.#value(value, verb, depth + 1);
  }

  #struct(value: TypedValue & { readonly type: StructType }, verb: string, depth: number): string {
    const { sharpV, plusV } = this.flags;
    const items = value.type.fields.map((field) => {
      const text = this.#nested(field.type, readField(value, field), verb, depth);
      return sharpV || plusV ? `${field.name}:${text}` : text;
    });
    return `${sharpV ? value.type.name : ''}{${items.join(sharpV ? ', ' : ' ')}}`;
  }

  /** Formats a pointer or function: as `&` and the target at the top level, else as an address. */
  #pointer(value: unknown, verb: string, depth = 0): string {
    const isTyped = value instanceof TypedValue;
    if (isTyped && value.type.kind === 'pointer' && depth === 0 && !value.isNil && verb !== 'p') {
      const target = typed(value.type.element, value.raw);
      if (['slice', 'map', 'struct'].includes(kindOf(target))) return `&${this.#value(target, verb, 1)}`;
    }
    if (!['ptr', 'func', 'map', 'slice'].includes(kindOf(value))) return this.#badVerb(value, verb);
    const address = isNil(value) ? 0n : someAddress;
    const { flags } = this;
    if (verb === 'v' && flags.sharpV)
      return `(${typeNameOf(value)})(${address === 0n ? 'nil' : `0x${address.toString(16)}`})`;
    if (verb === 'v' && address === 0n) return pad(flags, '<nil>');
    if (verb === 'v' || verb === 'p') return formatInteger({ ...flags, sharp: !flags.sharp }, address, 16, 'x');
    return 'bodxX'.includes(verb) ? this.#integer(address, false, value, verb) : this.#badVerb(value, verb);
  }
}

/** Returns the character of a code point; U+FFFD for an invalid one. */
function codePoint(number: bigint): string {
  const valid = number >= 0n && number <= 0x10ffffn && !(number >= 0xd800n && number < 0xe000n);
  return String.fromCodePoint(valid ? Number(number) : 0xfffd);
}
