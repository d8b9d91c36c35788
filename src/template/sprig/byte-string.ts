import { fromBytes, hasStrayBytes, isAscii, toBytes } from '../go-string.ts';

/** Applies to Go strings what works byte by byte: in the arguments each character is one byte, as in the result. */
export function onBytes(change: (...bytes: string[]) => string, ...texts: readonly string[]): string {
  if (texts.every(isAscii)) return change(...texts);
  return fromBytes(Buffer.from(change(...texts.map(latin1)), 'latin1'));
}

/** Go's white space among single bytes taken for runes. */
export const byteSpace = /[\t-\r \x85\xa0]/;

/** A test that looks for a part in a text. A part of stray bytes can be found inside of a character. */
export function tests(part: string, text: string, test: (part: string, text: string) => boolean): boolean {
  return hasStrayBytes(part) ? test(latin1(part), latin1(text)) : test(part, text);
}

/** A change of a text that looks for a part in it, by the same rule. `other` is a text that the result may contain. */
export function changes(
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
