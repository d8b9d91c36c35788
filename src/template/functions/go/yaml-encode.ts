import { byteLength } from '../../go-string.ts';
import { formatFloat } from './format-float.ts';
import { readDigits } from '../../integer.ts';
import { encodeJson } from './json-encode.ts';
import { decodeJson } from './json-decode.ts';
import type { Meter } from '../../exec/meter.ts';
import { letterEscapes } from '../../quote.ts';
import { compareKeys } from './yaml-order.ts';
import { styleOf } from './yaml-scalar.ts';

/** The column after which lines are folded at the first space. */
const width = 80;
/** The maximum length of a key that is written without `? `. */
const longestKey = 128;
/** The maximum length of a key in JSON that go-yaml's reader accepts. */
const longestJsonKey = 1024;
/** Characters that go-yaml's reader rejects; JSON escapes other control characters. */
const forbidden = /[\x7f-\x84\x86-\x9f\ufffe\uffff]/;
/** Marks an integer that is not a safe number; text cannot contain this character here. */
const integerMark = '\uffff';

/**
 * Marshals a value as sigs.k8s.io/yaml does: encodes it as JSON, reads the JSON as YAML, and writes
 * YAML as go-yaml 2 does.
 * @throws Error for values that JSON cannot hold, and for control characters
 */
export function encodeYaml(value: unknown, meter: Meter): string {
  const json = encodeJson(value, meter);
  // Reading and writing the JSON costs more than encoding it.
  meter.spend(json.length * 8);
  if (forbidden.test(json)) throw new Error('yaml: control characters are not allowed');
  return new YamlWriter(meter).document(decodeJson(markIntegers(foldNextLine(json))));
}

/** Converts long integers to marked strings, which keeps their digits. */
function markIntegers(json: string): string {
  if (!/[0-9]{16}/.test(json)) return json;
  return json.replace(/"(?:[^"\\]|\\[^])*"?|[0-9.eE+-]+/g, (token) =>
    /^-?[0-9]{16,}$/.test(token) ? `"${integerMark}${token}"` : token,
  );
}

/** Folds NEL line breaks as YAML's reader does: one break becomes a space, a run loses a break. */
function foldNextLine(json: string): string {
  if (!json.includes('\u0085')) return json;
  return json.replace(/[ \u0085]+/g, (breaks) => {
    const count = breaks.split('\u0085').length - 1;
    return count === 0 ? breaks : '\\n'.repeat(count - 1) || ' ';
  });
}

type Context = 'root' | 'sequence' | 'mapping' | 'key';

/** Writes nodes in block style; the flags are those of libyaml's emitter. */
class YamlWriter {
  #out = '';
  #column = 0;
  #indent = -1;
  /** Whether the last character was white space. */
  #whitespace = true;
  /** Whether the current line has only indentation. */
  #indention = true;
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  document(value: unknown): string {
    this.#node(value, 'root');
    this.#writeIndent();
    return this.#out;
  }

  #put(text: string): void {
    this.#out += text;
    this.#column += text.length;
  }

  #break(character = '\n'): void {
    this.#out += character;
    this.#column = 0;
    this.#indention = true;
  }

  #writeIndent(): void {
    const indent = Math.max(this.#indent, 0);
    if (!this.#indention || this.#column > indent || (this.#column === indent && !this.#whitespace)) this.#break();
    this.#meter.spend(indent);
    this.#put(' '.repeat(Math.max(indent - this.#column, 0)));
    this.#whitespace = true;
    this.#indention = true;
  }

  #indicator(text: string, needsSpace: boolean, keepsIndention = false): void {
    if (needsSpace && !this.#whitespace) this.#put(' ');
    this.#put(text);
    this.#whitespace = false;
    this.#indention &&= keepsIndention;
  }

  #node(value: unknown, context: Context): void {
    if (Array.isArray(value)) this.#sequence(value, context);
    else if (typeof value === 'object' && value !== null) this.#mapping(value as Readonly<Record<string, unknown>>);
    else if (typeof value === 'string' && value.startsWith(integerMark))
      this.#plain(formatInteger(value.slice(1)), false);
    else if (typeof value === 'string') this.#string(value, context === 'key');
    else this.#plain(typeof value === 'number' ? formatNumber(value) : String(value), false);
  }

  #indented(indent: number, write: () => void): void {
    const outer = this.#indent;
    this.#indent = indent;
    write();
    this.#indent = outer;
  }

  #sequence(list: readonly unknown[], context: Context): void {
    if (list.length === 0) {
      this.#indicator('[]', true);
      return;
    }
    // A list in a mapping is not indented under its key.
    const indentless = context === 'mapping' && !this.#indention;
    this.#indented(this.#indent < 0 ? 0 : this.#indent + (indentless ? 0 : 2), () => {
      for (const item of list) {
        this.#writeIndent();
        this.#indicator('-', true, true);
        this.#node(item, 'sequence');
      }
    });
  }

  #mapping(map: Readonly<Record<string, unknown>>): void {
    const keys = Object.keys(map).sort(compareKeys);
    if (keys.some((key) => byteLength(JSON.stringify(key)) > longestJsonKey))
      throw new Error("yaml: did not find expected ',' or '}'");
    if (keys.length === 0) {
      this.#indicator('{}', true);
      return;
    }
    this.#indented(this.#indent < 0 ? 0 : this.#indent + 2, () => {
      for (const key of keys) {
        this.#writeIndent();
        if (byteLength(key) <= longestKey && !styleOf(key, true).multiline) {
          this.#node(key, 'key');
          this.#indicator(':', false);
        } else {
          this.#indicator('?', true, true);
          this.#node(key, 'mapping');
          this.#writeIndent();
          this.#indicator(':', true, true);
        }
        this.#node(map[key], 'mapping');
      }
    });
  }

  #string(text: string, isKey: boolean): void {
    const { style } = styleOf(text, isKey);
    this.#indented(this.#indent < 0 ? 2 : this.#indent + 2, () => {
      if (style === 'plain') this.#plain(text, !isKey);
      else if (style === 'single') this.#single(text, !isKey);
      else if (style === 'double') this.#double(text, !isKey);
      else this.#literal(text);
    });
  }

  /** Writes characters; breaks the line at a single space beyond the width if `fold` agrees. */
  #folded(characters: readonly string[], write: (character: string) => void, fold: (index: number) => boolean): void {
    let afterSpace = false;
    characters.forEach((character, index) => {
      const isSpace = character === ' ';
      if (isSpace && !afterSpace && this.#column > width && fold(index)) {
        this.#writeIndent();
        if (characters[index + 1] === ' ') this.#put('\\');
      } else {
        write(character);
      }
      afterSpace = isSpace;
    });
  }

  #plain(text: string, folds: boolean): void {
    if (!this.#whitespace) this.#put(' ');
    if (this.#column + text.length <= width || !text.includes(' ')) {
      this.#put(text);
      this.#column += Array.from(text).length - text.length;
    } else {
      const characters = Array.from(text);
      const write = (character: string): void => {
        this.#put(character);
        if (character !== ' ') this.#indention = false;
      };
      this.#folded(characters, write, (index) => folds && characters[index + 1] !== ' ');
    }
    this.#whitespace = false;
    this.#indention = false;
  }

  #single(text: string, folds: boolean): void {
    this.#indicator("'", true);
    const characters = Array.from(text);
    let breaks = false;
    const write = (character: string): void => {
      if (character === '\u2028' || character === '\u2029') {
        this.#break(character);
        breaks = true;
        return;
      }
      if (breaks && character !== ' ') this.#writeIndent();
      this.#put(character === "'" ? "''" : character);
      if (character === ' ') return;
      this.#indention = false;
      breaks = false;
    };
    this.#folded(
      characters,
      write,
      (index) => folds && index > 0 && index < characters.length - 1 && characters[index + 1] !== ' ',
    );
    this.#indicator("'", false);
  }

  #double(text: string, folds: boolean): void {
    this.#indicator('"', true);
    const characters = Array.from(text);
    const escapesAll = text.startsWith('\ufeff');
    const write = (character: string): void => {
      this.#put(escapeDouble(character, escapesAll));
    };
    this.#folded(characters, write, (index) => folds && !escapesAll && index > 0 && index < characters.length - 1);
    this.#indicator('"', false);
  }

  #literal(text: string): void {
    this.#indicator('|', true);
    if (/^[ \n\u2028\u2029]/.test(text)) this.#indicator('2', false);
    const keeps = /^[\n\u2028\u2029]$|[\n\u2028\u2029]{2}$/.test(text);
    if (keeps) this.#indicator('+', false);
    else if (!/[\n\u2028\u2029]$/.test(text)) this.#indicator('-', false);
    this.#break();
    this.#whitespace = true;
    let breaks = true;
    for (const character of text) {
      if (character === '\n' || character === '\u2028' || character === '\u2029') {
        this.#break(character);
        breaks = true;
      } else {
        if (breaks) this.#writeIndent();
        this.#put(character);
        this.#indention = false;
        breaks = false;
      }
    }
  }
}

const doubleEscapes: Readonly<Record<string, string>> = {
  ...letterEscapes,
  '\0': '\\0',
  '\x1b': '\\e',
  '"': '\\"',
  '\u0085': '\\N',
  '\u00a0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

/** Escapes a character of a double-quoted scalar; after a leading BOM, escapes everything. */
function escapeDouble(character: string, everything: boolean): string {
  const mustEscape =
    everything || /[^\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]|["\\]/.test(character);
  if (!mustEscape) return character;
  const simple = doubleEscapes[character];
  if (simple !== undefined) return simple;
  const code = character.codePointAt(0) as number;
  const digits = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** Formats integers with all digits, and other numbers as %g does. */
function formatNumber(value: number): string {
  if (Object.is(value, -0)) return '0';
  return Number.isSafeInteger(value) ? String(value) : formatFloat(value, 'g', -1);
}

/** Formats an integer. An integer beyond 64 bits becomes a float. */
function formatInteger(digits: string): string {
  const value = digits.startsWith('-') ? -readDigits(digits.slice(1)) : readDigits(digits);
  return value >= -(2n ** 63n) && value < 2n ** 64n ? digits : formatFloat(Number(digits), 'g', -1);
}
