import { canonical } from './go-string.ts';

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Plain ASCII without quotes and backslashes: nothing to escape in any style. */
const harmless = /^[ !#-&(-[\]-_a-~]*$/;
const needsEscape = /[^ !#-[\]-~]/gu;

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(character: string): boolean {
  return printable.test(character);
}

/** Go's strconv.Quote: a double-quoted Go string literal. */
export function quoteString(text: string): string {
  return quoteWith(text, '"', false);
}

/** Go's strconv.QuoteToASCII. */
export function quoteToAscii(text: string): string {
  return quoteWith(text, '"', true);
}

/** Go's strconv.QuoteRune (or QuoteRuneToASCII) of one code point; what is no code point becomes U+FFFD. */
export function quoteRune(code: number, asciiOnly: boolean): string {
  const valid = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return quoteWith(String.fromCodePoint(valid ? code : 0xfffd), "'", asciiOnly);
}

function quoteWith(text: string, quote: string, asciiOnly: boolean): string {
  if (harmless.test(text)) return quote + text + quote;
  const body = canonical(text).replace(needsEscape, (character) => escapeCharacter(character, quote, asciiOnly));
  return quote + body + quote;
}

function escapeCharacter(character: string, quote: string, asciiOnly: boolean): string {
  if (character === quote) return `\\${quote}`;
  const simple = escapes[character];
  if (simple !== undefined) return simple;
  const code = character.codePointAt(0) as number;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  if ((!asciiOnly || code < 0x80) && isPrintable(character)) return character;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
