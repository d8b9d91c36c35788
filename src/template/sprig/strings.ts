import { goFunction, goVariadic } from '../go-function.ts';
import type { FunctionTable } from '../go-function.ts';
import { byteLength, canonical, sliceBytes } from '../go-string.ts';
import { any, integer, string } from '../parameters.ts';
import { formatValue } from '../print-value.ts';
import { quoteString } from '../quote.ts';
import { byteSpace, changes, onBytes, tests } from './byte-string.ts';
import { stringMapOf, stringSlice } from './elements.ts';
import { space, swapCase, toLower, toTitle, toUpper, untitle } from './letter-case.ts';
import { includesPart, splitAt } from './search.ts';
import { stringValue } from './string-value.ts';
import { pascalCase, separatedCase } from './word-case.ts';
import { wrap } from './wrap.ts';

/** A repetition longer than this is refused: real Go would run out of memory, or the execution out of its bounds. */
const maximumLength = 16 * 1024 * 1024;

/** Go's strings.Repeat. */
export function repeat(text: string, count: bigint): string {
  if (count < 0n) throw new Error('strings: negative Repeat count');
  if (count * BigInt(text.length) > maximumLength) throw new Error('strings: Repeat output length overflow');
  return text.repeat(text === '' ? 0 : Number(count));
}

/** Go's strings.Trim: removes characters of the set from both ends. */
export function trimSet(text: string, set: string): string {
  const characters = Array.from(canonical(text));
  const cut = new Set(Array.from(canonical(set)));
  let start = 0;
  let end = characters.length;
  while (start < end && cut.has(characters[start] as string)) start += 1;
  while (end > start && cut.has(characters[end - 1] as string)) end -= 1;
  return characters.slice(start, end).join('');
}

function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.test(text.charAt(start))) start += 1;
  while (end > start && space.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** sprig's trunc: the first bytes, of a negative count the last ones. */
function truncate(count: bigint, text: string): string {
  const length = byteLength(text);
  if (count < 0n) return BigInt(length) + count > 0n ? sliceBytes(text, length + Number(count), length) : text;
  return BigInt(length) > count ? sliceBytes(text, 0, Number(count)) : text;
}

/** sprig's substr: bytes from start to end; a negative start is the beginning, a negative end the end. */
function substring(start: bigint, end: bigint, text: string): string {
  const length = byteLength(text);
  const from = start < 0n ? 0 : Number(start);
  const to = start >= 0n && (end < 0n || end > length) ? length : Number(end);
  if (to < 0 || to > length || from > to) throw new Error('runtime error: slice bounds out of range');
  return sliceBytes(text, from, to);
}

/** goutils.AbbreviateFull on a string of bytes: at most `width` bytes (4, with an offset 7), with an ellipsis where something is left out. */
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

/** goutils.DeleteWhiteSpace takes bytes for characters: where it deletes anything, other bytes are encoded anew. */
function deleteSpace(text: string): string {
  let result = text;
  onBytes((bytes = '') => {
    const kept = Array.from(bytes).filter((byte) => !byteSpace.test(byte));
    if (kept.length < bytes.length) result = kept.join('');
    return '';
  }, text);
  return result;
}

/** goutils.Initials, which takes bytes for characters too. */
function initials(text: string): string {
  let result = '';
  onBytes((bytes = '') => {
    result = Array.from(bytes)
      .filter((byte, index) => !byteSpace.test(byte) && (index === 0 || byteSpace.test(bytes.charAt(index - 1))))
      .join('');
    return '';
  }, text);
  return result;
}

/** Each line begins with this many spaces, the first one too. */
function indent(count: bigint, text: string): string {
  const padding = repeat(' ', count);
  return padding + text.replaceAll('\n', `\n${padding}`);
}

/** Go's strings.Split: by an empty separator into characters. */
function splitText(text: string, separator: string): string[] {
  return separator === '' ? Array.from(canonical(text)) : splitAt(text, separator);
}

/** Go's strings.SplitN: at most `count` parts, the last with the rest. */
function splitCount(text: string, separator: string, count: bigint): string[] {
  const parts = splitText(text, separator);
  if (count < 0n || BigInt(parts.length) <= count) return parts;
  if (count === 0n) return [];
  const kept = Number(count) - 1;
  return [...parts.slice(0, kept), parts.slice(kept).join(separator)];
}

/** sprig names the parts _0, _1 … */
function numbered(parts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(parts.map((part, index) => [`_${index}`, part]));
}

const trimAll = goFunction([string, string], (set, text) => trimSet(text, set));

/** sprig's functions on strings. */
export const stringFunctions: FunctionTable = {
  abbrev: goFunction([integer, string], (width, text) =>
    width < 4n ? text : onBytes((bytes = '') => abbreviate(bytes, 0, Number(width)), text),
  ),
  abbrevboth: goFunction([integer, integer, string], abbreviateBoth),
  camelcase: goFunction([string], pascalCase),
  cat: goVariadic([], any, (...values) =>
    values
      .filter((value) => value !== null)
      .map(formatValue)
      .join(' '),
  ),
  contains: goFunction([string, string], (part, text) =>
    tests(part, text, (needle, bytes) => includesPart(bytes, needle)),
  ),
  hasPrefix: goFunction([string, string], (part, text) =>
    tests(part, text, (needle, bytes) => bytes.startsWith(needle)),
  ),
  hasSuffix: goFunction([string, string], (part, text) => tests(part, text, (needle, bytes) => bytes.endsWith(needle))),
  indent: goFunction([integer, string], indent),
  initials: goFunction([string], initials),
  kebabcase: goFunction([string], (text) => separatedCase(text, '-')),
  lower: goFunction([string], toLower),
  nindent: goFunction([integer, string], (count, text) => `\n${indent(count, text)}`),
  nospace: goFunction([string], deleteSpace),
  plural: goFunction([string, string, integer], (one, many, count) => (count === 1n ? one : many)),
  quote: goVariadic([], any, (...values) =>
    values
      .filter((value) => value !== null)
      .map((value) => quoteString(stringValue(value)))
      .join(' '),
  ),
  repeat: goFunction([integer, string], (count, text) => repeat(text, count)),
  replace: goFunction([string, string, string], (old, replacement, text) =>
    changes(old, (needle, bytes, other) => splitForReplace(bytes, needle).join(other), text, replacement),
  ),
  snakecase: goFunction([string], (text) => separatedCase(text, '_')),
  split: goFunction([string, string], (separator, text) => stringMapOf(numbered(splitText(text, separator)))),
  splitList: goFunction([string, string], (separator, text) => stringSlice(splitText(text, separator))),
  splitn: goFunction([string, integer, string], (separator, count, text) =>
    stringMapOf(numbered(splitCount(text, separator, count))),
  ),
  squote: goVariadic([], any, (...values) =>
    values
      .filter((value) => value !== null)
      .map((value) => `'${formatValue(value)}'`)
      .join(' '),
  ),
  substr: goFunction([integer, integer, string], substring),
  swapcase: goFunction([string], swapCase),
  title: goFunction([string], toTitle),
  toString: goFunction([any], stringValue),
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
  wrap: goFunction([integer, string], (width, text) =>
    onBytes((bytes = '') => wrap(bytes, Number(width), '', false), text),
  ),
  wrapWith: goFunction([integer, string, string], (width, newline, text) =>
    onBytes((bytes = '', separator = '') => wrap(bytes, Number(width), separator, true), text, newline),
  ),
};

/** Go replaces the empty string before each character and at the end. */
function splitForReplace(text: string, old: string): string[] {
  return old === '' ? ['', ...Array.from(canonical(text)), ''] : splitAt(text, old);
}
