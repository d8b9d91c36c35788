import { Buffer } from 'node:buffer';
import { goFunction, meteredFunction, meteredVariadic, type FunctionTable } from '../../go/go-function.ts';
import { byteLength, canonical, sliceBytes, fromBytes, hasStrayBytes, isAscii, toBytes } from '../../../go-string.ts';
import { cost, type Meter } from '../../../exec/meter.ts';
import { any, integer, string } from '../../../exec/parameters.ts';
import { formatValue } from '../../go/print-value.ts';
import { quoteString } from '../../../quote.ts';
import { stringMapOf, stringSlice } from '../elements.ts';
import { space, swapCase, toLower, toTitle, toUpper, untitle } from './letter-case.ts';
import { pascalCase, separatedCase } from './word-case.ts';

/** Go's strings.Repeat. */
function repeat(meter: Meter, text: string, count: bigint): string {
  if (count < 0n) throw new Error('strings: negative Repeat count');
  meter.spend(Number(count) * text.length);
  return text.repeat(text === '' ? 0 : Number(count));
}

/** Go's strings.Trim: removes characters of the set from both ends. */
function trimSet(text: string, set: string): string {
  const characters = Array.from(canonical(text));
  const cut = new Set(Array.from(canonical(set)));
  let start = 0;
  let end = characters.length;
  while (start < end && cut.has(characters[start] as string)) start += 1;
  while (end > start && cut.has(characters[end - 1] as string)) end -= 1;
  return characters.slice(start, end).join('');
}

export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.test(text.charAt(start))) start += 1;
  while (end > start && space.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** sprig's trunc: returns the first bytes or, for a negative count, the last bytes. */
function truncate(count: bigint, text: string): string {
  const length = byteLength(text);
  if (count < 0n) return BigInt(length) + count > 0n ? sliceBytes(text, length + Number(count), length) : text;
  return BigInt(length) > count ? sliceBytes(text, 0, Number(count)) : text;
}

/** sprig's substr, in bytes. A negative start means the beginning, a negative end the end. */
function substring(start: bigint, end: bigint, text: string): string {
  const length = byteLength(text);
  const from = start < 0n ? 0 : Number(start);
  const to = start >= 0n && (end < 0n || end > length) ? length : Number(end);
  if (to < 0 || to > length || from > to) throw new Error('runtime error: slice bounds out of range');
  return sliceBytes(text, from, to);
}

/** goutils.AbbreviateFull: cuts a string to at most `width` bytes, including ellipses. */
function abbreviate(text: string, offset: number, width: number): string {
  const { length } = text;
  if (length <= width) return text;
  const limited = Math.min(offset, length);
  const start = length - limited < width - 3 ? length - (width - 3) : limited;
  if (start <= 4) return `${text.slice(0, width - 3)}...`;
  if (start + width - 3 < length) return `...${abbreviate(text.slice(start), 0, width - 3)}`;
  return `...${text.slice(length - (width - 3))}`;
}

function abbreviateBoth(left: bigint, right: bigint, text: string): string {
  if (right < 4n || (left > 0n && right < 7n)) return text;
  return onBytes((bytes = '') => abbreviate(bytes, Number(left), Number(right)), text);
}

/** goutils.DeleteWhiteSpace, which treats bytes as characters and re-encodes a changed text. */
function deleteSpace(text: string): string {
  const bytes = latin1(text);
  const kept = bytes.replace(byteSpaces, '');
  return kept.length < bytes.length ? kept : text;
}

/** goutils.Initials, which treats bytes as characters. */
function initials(text: string): string {
  const words = latin1(text).split(byteSpaces);
  return words.map((word) => word.charAt(0)).join('');
}

/** Indents each line, including the first. */
function indent(meter: Meter, count: bigint, text: string): string {
  meter.spend(Number(count) * occurrences(text, '\n'));
  const padding = repeat(meter, ' ', count);
  return padding + text.replaceAll('\n', `\n${padding}`);
}

export function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

/** Go's strings.Split; an empty separator splits into characters. */
function splitText(meter: Meter, text: string, separator: string, units: number): string[] {
  const parts = separator === '' ? Array.from(canonical(text)) : splitAt(text, separator);
  meter.spend(units * parts.length);
  return parts;
}

/** Go's strings.SplitN: returns at most `count` parts; the last part has the rest. */
function splitCount(meter: Meter, text: string, separator: string, count: bigint): string[] {
  const parts = splitText(meter, text, separator, partCost);
  if (count < 0n || BigInt(parts.length) <= count) return parts;
  if (count === 0n) return [];
  const kept = Number(count) - 1;
  return [...parts.slice(0, kept), parts.slice(kept).join(separator)];
}

/** The cost of a named part and of its intermediate pair. */
const partCost = 2 * cost.entry;

/** Names the parts _0, _1 … as sprig does. */
function numbered(parts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(parts.map((part, index) => [`_${index}`, part]));
}

/** Makes a function that joins the texts of the non-nil values with spaces. */
function spaced(write: (text: string) => string): FunctionTable[string] {
  return meteredVariadic([], any, (meter, ...values) =>
    values
      .filter((value) => value !== null)
      .map((value) => write(formatValue(value, meter)))
      .join(' '),
  );
}

/** Makes a test for a part of a text; a part of stray bytes can match inside a character. */
function testing(test: (text: string, part: string) => boolean): FunctionTable[string] {
  return goFunction([string, string], (part, text) =>
    hasStrayBytes(part) ? test(latin1(text), latin1(part)) : test(text, part),
  );
}

const trimAll = goFunction([string, string], (set, text) => trimSet(text, set));

/** The costs of functions that inspect each character or each word, relative to copying. */
const byCharacters = { weight: 8 };
const byWords = { weight: 32 };

export const stringFunctions: FunctionTable = {
  abbrev: goFunction([integer, string], (width, text) =>
    width < 4n ? text : onBytes((bytes = '') => abbreviate(bytes, 0, Number(width)), text),
  ),
  abbrevboth: goFunction([integer, integer, string], abbreviateBoth),
  camelcase: goFunction([string], pascalCase, byCharacters),
  cat: spaced((text) => text),
  contains: testing(includesPart),
  hasPrefix: testing((text, prefix) => text.startsWith(prefix)),
  hasSuffix: testing((text, suffix) => text.endsWith(suffix)),
  indent: meteredFunction([integer, string], indent),
  initials: goFunction([string], initials, byCharacters),
  kebabcase: goFunction([string], (text) => separatedCase(text, '-'), byWords),
  lower: goFunction([string], toLower),
  nindent: meteredFunction([integer, string], (meter, count, text) => `\n${indent(meter, count, text)}`),
  nospace: goFunction([string], deleteSpace, byCharacters),
  plural: goFunction([string, string, integer], (one, many, count) => (count === 1n ? one : many)),
  quote: spaced((text) => quoteString(text)),
  repeat: meteredFunction([integer, string], (meter, count, text) => repeat(meter, text, count)),
  replace: meteredFunction([string, string, string], (meter, old, replacement, text) =>
    changes(old, (needle, bytes, other) => replaceText(meter, bytes, needle, other), text, replacement),
  ),
  snakecase: goFunction([string], (text) => separatedCase(text, '_'), byWords),
  split: meteredFunction([string, string], (meter, separator, text) =>
    stringMapOf(numbered(splitText(meter, text, separator, partCost))),
  ),
  splitList: meteredFunction([string, string], (meter, separator, text) =>
    stringSlice(splitText(meter, text, separator, cost.element)),
  ),
  splitn: meteredFunction([string, integer, string], (meter, separator, count, text) =>
    stringMapOf(numbered(splitCount(meter, text, separator, count))),
  ),
  squote: spaced((text) => `'${text}'`),
  substr: goFunction([integer, integer, string], substring),
  swapcase: goFunction([string], swapCase, byCharacters),
  title: goFunction([string], toTitle, byCharacters),
  toString: meteredFunction([any], (meter, value) => formatValue(value, meter)),
  trim: goFunction([string], trimSpace),
  trimAll,
  trimPrefix: goFunction([string, string], (prefix, text) =>
    changes(prefix, (needle, bytes) => (bytes.startsWith(needle) ? bytes.slice(needle.length) : bytes), text),
  ),
  trimSuffix: goFunction([string, string], (suffix, text) =>
    changes(
      suffix,
      (needle, bytes) => (bytes.endsWith(needle) ? bytes.slice(0, bytes.length - needle.length) : bytes),
      text,
    ),
  ),
  trimall: trimAll,
  trunc: goFunction([integer, string], truncate),
  untitle: goFunction([string], untitle),
  upper: goFunction([string], toUpper),
  wrap: meteredFunction([integer, string], (meter, width, text) =>
    onBytes((bytes = '') => wrap(meter, bytes, Number(width), '', false), text),
  ),
  wrapWith: meteredFunction([integer, string, string], (meter, width, newline, text) =>
    onBytes((bytes = '', separator = '') => wrap(meter, bytes, Number(width), separator, true), text, newline),
  ),
};

/** Replaces a part. Like Go, finds an empty part before each character and at the end. */
function replaceText(meter: Meter, text: string, old: string, replacement: string): string {
  const parts = old === '' ? ['', ...Array.from(canonical(text)), ''] : splitAt(text, old);
  meter.spend((parts.length - 1) * (cost.element + replacement.length));
  return parts.join(replacement);
}

/** Applies a bytewise change to Go strings; `change` gets and returns a character per byte. */
function onBytes(change: (...bytes: string[]) => string, ...texts: readonly string[]): string {
  if (texts.every(isAscii)) return change(...texts);
  return fromBytes(Buffer.from(change(...texts.map(latin1)), 'latin1'));
}

/** Go's white space among bytes that are treated as runes. */
const byteSpaces = /[\t-\r \x85\xa0]/g;

/** Applies a change that searches for `part`; the result may contain the text `other`. */
function changes(
  part: string,
  change: (part: string, text: string, other: string) => string,
  text: string,
  other = '',
): string {
  if (!hasStrayBytes(part)) return change(part, text, other);
  return onBytes((needle = '', bytes = '', rest = '') => change(needle, bytes, rest), part, text, other);
}

function latin1(text: string): string {
  return toBytes(text).toString('latin1');
}

/**
 * goutils.WrapCustom: breaks a string of bytes at spaces into lines of at most `width` bytes.
 * @param breakWords whether to break longer words, which otherwise get their own lines
 */
function wrap(meter: Meter, text: string, width: number, newline: string, breakWords: boolean): string {
  const limit = Math.max(width, 1);
  const separator = newline === '' ? '\n' : newline;
  let result = '';
  let offset = 0;
  while (text.length - offset > limit) {
    if (text[offset] === ' ') {
      offset += 1;
      continue;
    }
    meter.spend(cost.element + separator.length);
    const at = text.slice(offset, offset + limit + 1).lastIndexOf(' ');
    const next = at >= 0 || breakWords ? -1 : text.indexOf(' ', offset + limit);
    if (at >= 0) {
      result += text.slice(offset, offset + at) + separator;
      offset += at + 1;
    } else if (breakWords) {
      result += text.slice(offset, offset + limit) + separator;
      offset += limit;
    } else if (next >= 0) {
      result += text.slice(offset, next) + separator;
      offset = next + 1;
    } else {
      return result + text.slice(offset);
    }
  }
  return result + text.slice(offset);
}

/** The maximum length of a part for which JavaScript's own search is always fast enough. */
const shortPart = 32;

/**
 * Returns the length of the match after one more character (Knuth, Morris and Pratt).
 * @param borders for each prefix of the part the length of its longest border
 */
function extend(part: string, borders: Int32Array, matched: number, code: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== code) length = borders[length - 1] as number;
  return part.charCodeAt(length) === code ? length + 1 : length;
}

/** `text.split(separator)` for a non-empty separator, in time linear in both lengths. */
export function splitAt(text: string, separator: string): string[] {
  if (separator.length <= shortPart) return text.split(separator);
  const borders = new Int32Array(separator.length);
  for (let at = 1; at < separator.length; at += 1)
    borders[at] = extend(separator, borders, borders[at - 1] as number, separator.charCodeAt(at));
  const parts: string[] = [];
  let from = 0;
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    matched = extend(separator, borders, matched, text.charCodeAt(at));
    if (matched < separator.length) continue;
    parts.push(text.slice(from, at + 1 - matched));
    from = at + 1;
    matched = 0;
  }
  parts.push(text.slice(from));
  return parts;
}

/** `text.includes(part)` in linear time. */
export function includesPart(text: string, part: string): boolean {
  return part.length <= shortPart ? text.includes(part) : splitAt(text, part).length > 1;
}
