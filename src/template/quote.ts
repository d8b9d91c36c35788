import { canonical } from './go-string.ts';

/** The escapes of one letter that Go and YAML share, by character. */
export const letterEscapes: Readonly<Record<string, string>> = {
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
/** ASCII without quotes and backslashes, which needs no escape in any style. */
const harmless = /^[ !#-&(-[\]-_a-~]*$/;
const needsEscape = /[^ !#-[\]-~]/gu;

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(character: string): boolean {
  return printable.test(character);
}

/** Go's strconv.Quote, or QuoteRune if `quote` is `'`. `asciiOnly` selects their ToASCII form. */
export function quoteString(text: string, quote: '"' | "'" = '"', asciiOnly = false): string {
  if (harmless.test(text)) return quote + text + quote;
  const body = canonical(text).replace(needsEscape, (character) => escapeCharacter(character, quote, asciiOnly));
  return quote + body + quote;
}

function escapeCharacter(character: string, quote: string, asciiOnly: boolean): string {
  if (character === quote) return `\\${quote}`;
  const simple = letterEscapes[character];
  if (simple !== undefined) return simple;
  const code = character.codePointAt(0) as number;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  if ((!asciiOnly || code < 0x80) && isPrintable(character)) return character;
  const digits = code.toString(16);
  if (code < 0x20 || code === 0x7f) return `\\x${digits.padStart(2, '0')}`;
  return code > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
