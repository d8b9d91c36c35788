import { behaviourOf } from '../../go-type.ts';
import type { GoMethod, GoType, MapType, SliceType, StructType } from '../../go-type.ts';
import { canonical, sortedKeys, toBytes } from '../../go-string.ts';
import { formatFloatVerb, formatInteger, formatUnicode, noFlags, pad } from './format-flags.ts';
import type { Flags } from './format-flags.ts';
import { mapCost } from '../../exec/meter.ts';
import type { Meter } from '../../exec/meter.ts';
import { Complex, Integer } from '../../integer.ts';
import { quoteRune, quoteString, quoteToAscii } from '../../quote.ts';
import { readField, typed, TypedValue } from '../../typed-value.ts';
import { kindOf, rawElements, rawEntries, typeNameOf, typeOf, underlying } from '../../value-kind.ts';
import { typeName } from '../../go-type.ts';

/** What Go prints for addresses differs from run to run; we print always the same. */
const someAddress = 0xc000012000n;

/** Formats single values by Go's verbs (package fmt), with flags that a format sets. */
export class Printer {
  flags: Flags = noFlags();
  /** While a bad verb is described, methods are not called. */
  #erroring = false;
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** An argument: `undefined` and `null` are Go's nil. */
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

  /** Each value may be filled up to the width. */
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

  /** What the value says of itself: a String method, for verbs that print strings. */
  #describe(value: unknown, verb: string): string | undefined {
    if (this.#erroring) return undefined;
    if (verb === 'w') return this.#badVerb(value, verb);
    if (this.flags.sharpV || !'vsxXq'.includes(verb) || !(value instanceof TypedValue)) return undefined;
    const { type } = value;
    const method = stringMethod(type.kind === 'pointer' ? type.element : type);
    if (method === undefined || (method.pointerReceiver === true && type.kind !== 'pointer')) return undefined;
    // A method on T called through a nil *T panics; fmt prints <nil> then.
    if (value.isNil && type.kind === 'pointer' && method.pointerReceiver !== true) return '<nil>';
    return this.#string(String(method.call(value.raw)), value, verb);
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
    // Raw strings may hold anything but backquotes, control characters (tab is fine) and what is no text.
    if (this.flags.sharp && !/[^\t -_a-~\x80-\ud7ff\ue000-\ufefe\uff00-\u{10ffff}]/u.test(kept))
      return pad(this.flags, `\`${kept}\``);
    return pad(this.flags, this.flags.plus ? quoteToAscii(kept) : quoteString(kept));
  }

  #hexadecimal(text: string, verb: string): string {
    this.#meter.spend(text.length * 8);
    const { precision, space, sharp, width } = this.flags;
    const prefix = sharp ? '0x' : '';
    const bytes = Array.from(toBytes(text).subarray(0, precision), (byte) => byte.toString(16).padStart(2, '0'));
    const joined = space
      ? bytes.map((byte) => prefix + byte).join(' ')
      : bytes.length > 0
        ? prefix + bytes.join('')
        : '';
    const shown = verb === 'X' ? joined.toUpperCase() : joined;
    return width === undefined ? shown : pad(this.flags, shown);
  }

  #float(number: number, value: unknown, verb: string): string {
    switch (verb) {
      case 'v':
        return formatFloatVerb(this.flags, number, 'g', -1);
      case 'b':
      case 'g':
      case 'G':
      case 'x':
      case 'X':
        return formatFloatVerb(this.flags, number, verb, -1);
      case 'f':
      case 'e':
      case 'E':
        return formatFloatVerb(this.flags, number, verb, 6);
      case 'F':
        return formatFloatVerb(this.flags, number, 'f', 6);
      default:
        return this.#badVerb(value, verb);
    }
  }

  #integer(number: bigint, signed: boolean, value: unknown, verb: string): string {
    const { flags } = this;
    switch (verb) {
      case 'v':
        return flags.sharpV && !signed
          ? formatInteger({ ...flags, sharp: true }, number, 16, 'v')
          : formatInteger(flags, number, 10, 'd');
      case 'd':
        return formatInteger(flags, number, 10, verb);
      case 'b':
        return formatInteger(flags, number, 2, verb);
      case 'o':
      case 'O':
        return formatInteger(flags, number, 8, verb);
      case 'x':
      case 'X':
        return formatInteger(flags, number, 16, verb);
      case 'c':
        return pad(flags, codePoint(number));
      case 'q':
        return pad(flags, quoteRune(codePoint(number), flags.plus));
      case 'U':
        return formatUnicode(flags, BigInt.asUintN(64, number));
      default:
        return this.#badVerb(value, verb);
    }
  }

  #complex(value: Complex, verb: string): string {
    if (!'vbgGxXfFeE'.includes(verb)) return this.#badVerb(value, verb);
    const { plus } = this.flags;
    const real = this.#float(value.real, value, verb);
    this.flags.plus = true;
    const imaginary = this.#float(value.imaginary, value, verb);
    this.flags.plus = plus;
    return `(${real}${imaginary}i)`;
  }

  #composite(value: unknown, verb: string, depth: number): string {
    const { sharpV } = this.flags;
    const separator = sharpV ? ', ' : ' ';
    switch (kindOf(value)) {
      case 'slice': {
        if (sharpV && value instanceof TypedValue && value.isNil) return `${typeNameOf(value)}(nil)`;
        const { element } = typeOf(value) as SliceType | MapType;
        const items = rawElements(value).map((raw) => this.#nested(element, typed(element, raw), verb, depth));
        const text = this.#join(items, separator);
        return sharpV ? `${typeNameOf(value)}{${text}}` : `[${text}]`;
      }
      case 'map': {
        if (sharpV && value instanceof TypedValue && value.isNil) return `${typeNameOf(value)}(nil)`;
        const { key: keyType, element } = typeOf(value) as MapType;
        const entries = rawEntries(value);
        this.#meter.spend(mapCost(entries));
        const items = sortedKeys(entries).map(
          (key) =>
            `${this.#value(typed(keyType, key), verb, depth + 1)}:${this.#nested(element, typed(element, entries[key]), verb, depth)}`,
        );
        const text = this.#join(items, separator);
        return sharpV ? `${typeNameOf(value)}{${text}}` : `map[${text}]`;
      }
      case 'struct':
        return this.#struct(value as TypedValue & { readonly type: StructType }, verb, depth);
      default:
        return this.#pointer(value, verb, depth);
    }
  }

  /** Each level copies what the deeper ones have made. */
  #join(items: readonly string[], separator: string): string {
    this.#meter.spend(items.reduce((length, item) => length + item.length, 0) >> 2);
    return items.join(separator);
  }

  /** An element: nil in an `interface {}` prints alike whatever the verb. */
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

  /** Pointers and functions: at the top `&` and what is pointed at, elsewhere an address. */
  #pointer(value: unknown, verb: string, depth = 0): string {
    const isTyped = value instanceof TypedValue;
    if (isTyped && value.type.kind === 'pointer' && depth === 0 && !value.isNil && verb !== 'p') {
      const target = typed(value.type.element, value.raw);
      if (['slice', 'map', 'struct'].includes(kindOf(target))) return `&${this.#value(target, verb, 1)}`;
    }
    if (!['ptr', 'func', 'map', 'slice'].includes(kindOf(value))) return this.#badVerb(value, verb);
    const address = isTyped && value.isNil ? 0n : someAddress;
    const { flags } = this;
    if (verb === 'v' && flags.sharpV)
      return `(${typeNameOf(value)})(${address === 0n ? 'nil' : `0x${address.toString(16)}`})`;
    if (verb === 'v' && address === 0n) return pad(flags, '<nil>');
    if (verb === 'v' || verb === 'p') return formatInteger({ ...flags, sharp: !flags.sharp }, address, 16, 'x');
    return 'bodxX'.includes(verb) ? this.#integer(address, false, value, verb) : this.#badVerb(value, verb);
  }
}

/** The character of a code point; what is none is U+FFFD. */
function codePoint(number: bigint): string {
  const valid = number >= 0n && number <= 0x10ffffn && !(number >= 0xd800n && number < 0xe000n);
  return String.fromCodePoint(valid ? Number(number) : 0xfffd);
}

/** The String method of a type, by which fmt prints it. */
export function stringMethod(type: GoType): GoMethod | undefined {
  return behaviourOf(type).methods?.String;
}
