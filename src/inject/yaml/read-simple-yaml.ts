import { podStructs } from '../kubernetes/generated/pod-types.ts';
import { PositionDependent, resolvePlain } from './plain-scalar.ts';

/** The error for texts outside the supported subset. It never leaves this file. */
const unusual = new Error('not simple YAML');

/** Matches text that is not printable ASCII, in which bytes, characters and columns are equal. */
const notSimple = /[^\n\x20-\x7e]/;
/** Starts of lines that mark documents or directives. */
const documentMarks = ['---', '...', '%'];
const deepest = 60;

const space = 0x20;
const lineBreak = 0x0a;
const quote = 0x22;
const hash = 0x23;
const percent = 0x25;
const apostrophe = 0x27;
const comma = 0x2c;
const dash = 0x2d;
const dot = 0x2e;
const colon = 0x3a;
const question = 0x3f;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const bar = 0x7c;
const closeObject = 0x7d;

/** The characters of supported keys. */
const keyCharacters = flags('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-');
/** The first characters of plain scalars that may not be strings. */
const hints = flags('-+0123456789.yYnNtTfFoO~<');
/** The first characters of the words that are not strings; such words are short. */
const words = flags('yYnNtTfFoO~<');
const longestWord = 5;
/** Go does not read much longer keys. */
const longestKey = 1000;
/** The characters with which a plain scalar never, or not always, starts. */
const indicators = flags('-?:,[]{}#&*!|>\'"%@`');

/** Pod field names by hash: V8 uses a string that has been a key faster than a new string. */
const fieldNames: (string | undefined)[] = new Array<undefined>(4096).fill(undefined);
for (const [, name = ''] of podStructs.matchAll(/^ {2}\w+ (\w+)/gm))
  fieldNames[Array.from(name).reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) & 4095, 0)] = name;

function flags(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/**
 * Parses the common subset of YAML, several times faster than a full parser and with equal results:
 * block lists and mappings, flow collections, single-line scalars, literal blocks.
 * @returns `undefined` for any other text, valid or not
 */
export function readSimpleYaml(text: string): unknown {
  if (notSimple.test(text)) return undefined;
  try {
    return new SimpleReader(text).document();
  } catch (error) {
    if (error !== unusual) throw error;
    return undefined;
  }
}

class SimpleReader {
  readonly #text: string;
  #at = 0;
  /** The column of the line that {@link #nextLine} found; `#end` is the end of the line. */
  #indent = -1;
  #end = 0;
  /** The hash of the last unquoted key. */
  #hashed = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    this.#nextLine();
    if (this.#indent < 0) throw unusual;
    const value = this.#block(this.#indent, 0);
    if (this.#indent >= 0) throw unusual;
    return value;
  }

  /** Moves to the next line with content; sets the indentation to -1 at the end of the text. */
  #nextLine(): void {
    const text = this.#text;
    for (let start = this.#at; start < text.length;) {
      let at = start;
      while (text.charCodeAt(at) === space) at += 1;
      const first = text.charCodeAt(at);
      let end = text.indexOf('\n', at);
      if (end < 0) end = text.length;
      if (at < end && first !== hash) {
        if (at === start) refuseMark(text, at);
        this.#at = at;
        this.#indent = at - start;
        while (text.charCodeAt(end - 1) === space) end -= 1;
        this.#end = end;
        return;
      }
      start = end + 1;
    }
    this.#at = text.length;
    this.#end = text.length;
    this.#indent = -1;
  }

  #leaveLine(): void {
    const next = this.#text.indexOf('\n', this.#end);
    this.#at = next < 0 ? this.#text.length : next + 1;
    this.#nextLine();
  }

  /** Parses a list or mapping that starts at this column. */
  #block(indent: number, depth: number): unknown {
    if (depth > deepest) throw unusual;
    return this.#isItem() ? this.#list(indent, depth) : this.#mapping(indent, depth);
  }

  #isItem(): boolean {
    if (this.#text.charCodeAt(this.#at) !== dash) return false;
    return this.#at + 1 === this.#end || this.#text.charCodeAt(this.#at + 1) === space;
  }

  #list(indent: number, depth: number): unknown[] {
    const list: unknown[] = [];
    while (this.#indent === indent && this.#isItem()) {
      // Parsers disagree on a lone dash, depending on the next line.
      if (this.#at + 1 === this.#end) throw unusual;
      const dashAt = this.#at;
      this.#at += 2;
      while (this.#text.charCodeAt(this.#at) === space) this.#at += 1;
      if (this.#isItem()) throw unusual;
      if (this.#keyEnd() >= 0) {
        this.#indent = indent + this.#at - dashAt;
        list.push(this.#mapping(this.#indent, depth + 1));
      } else {
        list.push(this.#scalar(indent, depth));
      }
    }
    if (this.#indent > indent) throw unusual;
    return list;
  }

  #mapping(indent: number, depth: number): unknown {
    const mapping: Record<string, unknown> = {};
    while (this.#indent === indent) {
      const end = this.#keyEnd();
      if (end < 0) throw unusual;
      const key = this.#key(this.#at, end);
      this.#at = end + 1;
      if (this.#at === this.#end) {
        this.#leaveLine();
        if (this.#indent > indent) mapping[key] = this.#block(this.#indent, depth + 1);
        // The list of a key may have the same indentation as the key.
        else mapping[key] = this.#indent === indent && this.#isItem() ? this.#list(indent, depth + 1) : null;
        continue;
      }
      while (this.#text.charCodeAt(this.#at) === space) this.#at += 1;
      mapping[key] = this.#scalar(indent, depth);
    }
    if (this.#indent > indent) throw unusual;
    return mapping;
  }

  /** Returns the index of the colon after the key at the current position, or -1. */
  #keyEnd(): number {
    const text = this.#text;
    let at = this.#at;
    if (text.charCodeAt(at) === quote) {
      at = text.indexOf('"', at + 1);
      if (at < 0 || at >= this.#end) return -1;
      at += 1;
    } else {
      let hashed = 0;
      for (let code = text.charCodeAt(at); keyCharacters[code] === 1; code = text.charCodeAt(at)) {
        hashed = (hashed * 31 + code) & 4095;
        at += 1;
      }
      if (at === this.#at) return -1;
      this.#hashed = hashed;
    }
    if (text.charCodeAt(at) !== colon) return -1;
    return at + 1 === this.#end || text.charCodeAt(at + 1) === space ? at : -1;
  }

  #key(start: number, end: number): string {
    const text = this.#text;
    const known = fieldNames[this.#hashed];
    if (known?.length === end - start && text.startsWith(known, start)) return known;
    const quoted = text.charCodeAt(start) === quote;
    const key = quoted ? text.slice(start + 1, end - 1) : text.slice(start, end);
    const isPlainKey = quoted
      ? !/[\\[]/.test(key)
      : text.charCodeAt(start) !== dash && (isString(key) || resolvePlain(key) === undefined);
    if (!isPlainKey || key === '__proto__' || key.length > longestKey) throw unusual;
    return key;
  }

  /** Parses the value after a key or a dash, then moves to the next line. */
  #scalar(indent: number, depth: number): unknown {
    const first = this.#text.charCodeAt(this.#at);
    if (first === bar) return this.#literal(indent);
    let value: unknown;
    if (first === openObject || first === openList) {
      value = this.#flow(depth + 1);
    } else if (first === quote || first === apostrophe) {
      value = this.#quoted(this.#end);
    } else {
      value = this.#plain(this.#at, this.#end);
      this.#at = this.#end;
    }
    this.#endLine();
    return value;
  }

  /** Requires that only spaces follow on the line. */
  #endLine(): void {
    const text = this.#text;
    let at = this.#at;
    while (text.charCodeAt(at) === space) at += 1;
    if (at < text.length && text.charCodeAt(at) !== lineBreak) throw unusual;
    this.#end = at;
    this.#leaveLine();
  }

  #plain(start: number, end: number): unknown {
    const text = this.#text;
    if (indicators[text.charCodeAt(start)] === 1) {
      // A dash starts a scalar if a character other than a space follows.
      const next = start + 1 < end ? text.charCodeAt(start + 1) : space;
      if (text.charCodeAt(start) !== dash || next === space) throw unusual;
    }
    for (let at = start; at < end; at += 1) {
      const code = text.charCodeAt(at);
      if (code === colon && (at + 1 === end || text.charCodeAt(at + 1) === space)) throw unusual;
      if (code === hash && text.charCodeAt(at - 1) === space) throw unusual;
    }
    return plainValue(text.slice(start, end));
  }

  /** Parses a quoted scalar that ends before `end`. */
  #quoted(end: number): string {
    const text = this.#text;
    const start = this.#at + 1;
    const mark = text.charCodeAt(this.#at);
    let special = false;
    let at = start;
    for (; at < end; at += 1) {
      const code = text.charCodeAt(at);
      if (code === lineBreak) throw unusual;
      if (code === backslash && mark === quote) {
        const next = text.charCodeAt(at + 1);
        if (next !== quote && next !== backslash) throw unusual;
        special = true;
        at += 1;
      } else if (code === mark) {
        if (mark === quote || text.charCodeAt(at + 1) !== apostrophe) break;
        special = true;
        at += 1;
      }
    }
    if (at >= end) throw unusual;
    this.#at = at + 1;
    const content = text.slice(start, at);
    if (!special) return content;
    return mark === quote ? content.replace(/\\(.)/g, '$1') : content.replaceAll("''", "'");
  }

  /** Parses a literal block, which is indented deeper than its key or dash. */
  #literal(indent: number): string {
    const text = this.#text;
    const header = text.slice(this.#at, this.#end);
    if (header !== '|' && header !== '|-') throw unusual;
    let start = text.indexOf('\n', this.#end) + 1;
    if (start === 0) throw unusual;
    let column = -1;
    const lines: string[] = [];
    while (start < text.length) {
      let end = text.indexOf('\n', start);
      if (end < 0) end = text.length;
      let at = start;
      while (text.charCodeAt(at) === space) at += 1;
      if (at >= end) {
        // A line of spaces is empty unless it is longer than the indentation of the block.
        if (column < 0 || end - start > column) throw unusual;
        lines.push('');
      } else {
        if (column < 0) column = at - start;
        if (at - start < column) break;
        if (column <= indent) throw unusual;
        lines.push(text.slice(start + column, end));
      }
      start = end + 1;
    }
    if (column <= indent) throw unusual;
    while (lines.at(-1) === '') lines.pop();
    this.#at = start;
    this.#nextLine();
    return header === '|' ? `${lines.join('\n')}\n` : lines.join('\n');
  }

  /** Parses a flow collection. */
  #flow(depth: number): unknown {
    if (depth > deepest) throw unusual;
    const isList = this.#text.charCodeAt(this.#at) === openList;
    const list: unknown[] = [];
    const mapping: Record<string, unknown> = {};
    this.#at += 1;
    for (;;) {
      this.#skipFlowSpace();
      if (this.#text.charCodeAt(this.#at) === (isList ? closeList : closeObject)) break;
      if (isList) {
        list.push(this.#flowValue(depth));
      } else {
        const key = this.#flowKey();
        mapping[key] = this.#flowValue(depth);
      }
      this.#skipFlowSpace();
      if (this.#text.charCodeAt(this.#at) === comma) this.#at += 1;
      else if (this.#text.charCodeAt(this.#at) !== (isList ? closeList : closeObject)) throw unusual;
    }
    this.#at += 1;
    return isList ? list : mapping;
  }

  #skipFlowSpace(): void {
    const text = this.#text;
    for (let code = text.charCodeAt(this.#at); code === space || code === lineBreak; code = text.charCodeAt(this.#at)) {
      this.#at += 1;
      if (code === lineBreak) refuseMark(text, this.#at);
    }
  }

  #flowKey(): string {
    const lineEnd = this.#text.indexOf('\n', this.#at);
    this.#end = lineEnd < 0 ? this.#text.length : lineEnd;
    const colonAt = this.#keyEnd();
    if (colonAt < 0) throw unusual;
    const key = this.#key(this.#at, colonAt);
    this.#at = colonAt + 1;
    if (this.#at === this.#end) throw unusual;
    while (this.#text.charCodeAt(this.#at) === space) this.#at += 1;
    return key;
  }

  #flowValue(depth: number): unknown {
    const text = this.#text;
    const first = text.charCodeAt(this.#at);
    if (first === openList || first === openObject) return this.#flow(depth + 1);
    if (first === quote || first === apostrophe) return this.#quoted(text.length);
    const start = this.#at;
    let at = start;
    for (let code = first; ; code = text.charCodeAt(at)) {
      if (code === comma || code === closeList || code === closeObject || code === lineBreak || Number.isNaN(code))
        break;
      if (code === openList || code === openObject || code === question) throw unusual;
      at += 1;
    }
    this.#at = at;
    while (at > start && text.charCodeAt(at - 1) === space) at -= 1;
    if (at === start) throw unusual;
    return this.#plain(start, at);
  }
}

/** @throws if a line starts with a document marker or directive */
function refuseMark(text: string, at: number): void {
  const first = text.charCodeAt(at);
  if ((first === dash || first === dot || first === percent) && documentMarks.some((mark) => text.startsWith(mark, at)))
    throw unusual;
}

function plainValue(text: string): unknown {
  if (isString(text)) return text;
  if (text === '<<') throw unusual;
  const value = resolvePlain(text);
  if (value === undefined) return text;
  if (!(value instanceof PositionDependent)) return value;
  if (typeof value.value === 'number' && !Number.isFinite(value.value)) throw unusual;
  return value.value;
}

/** Reports whether the start of a plain scalar shows that it is a string. */
function isString(text: string): boolean {
  const first = text.charCodeAt(0);
  return hints[first] !== 1 || (words[first] === 1 && text.length > longestWord);
}
