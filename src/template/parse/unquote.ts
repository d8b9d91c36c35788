import { canonical } from '../go-string.ts';
import { letterEscapes } from '../quote.ts';

/** The characters of Go's escapes, by letter. */
const charactersByLetter = new Map(
  Object.entries(letterEscapes).map(([character, escape]) => [escape.slice(1), character]),
);
const escape = /\\(?:x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))|[^\\]/gu;

/**
 * Returns the text of a Go string or rune literal with quotes (Go specification, "String
 * literals").
 * @returns `undefined` for an invalid literal
 */
export function unquote(literal: string): string | undefined {
  const quote = literal.slice(0, 1);
  const body = literal.slice(1, -1);
  if (quote === '`') return body.replaceAll('\r', '');
  let text = '';
  for (const match of body.matchAll(escape)) {
    const piece = unescape(match, quote);
    if (piece === undefined) return undefined;
    text += piece;
  }
  return canonical(text);
}

function unescape(match: RegExpMatchArray, quote: string): string | undefined {
  const [whole, hexByte, octalByte, shortRune, longRune, letter] = match;
  if (hexByte !== undefined) return byte(Number.parseInt(hexByte, 16), quote);
  if (octalByte !== undefined) return byte(Number.parseInt(octalByte, 8), quote);
  const rune = shortRune ?? longRune;
  if (rune !== undefined) {
    const code = Number.parseInt(rune, 16);
    return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? undefined : String.fromCodePoint(code);
  }
  if (letter !== undefined) return letter === quote ? quote : charactersByLetter.get(letter);
  return whole;
}

/** Converts a numeric escape: a byte in a string, a code point in a rune literal. */
function byte(value: number, quote: string): string | undefined {
  if (value > 0xff) return undefined;
  return String.fromCharCode(value < 0x80 || quote === "'" ? value : 0xdc00 + value);
}
