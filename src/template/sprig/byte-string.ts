import { fromBytes, isAscii, toBytes } from '../go-string.ts';

/** Applies to a Go string what works byte by byte: in the argument each character is one byte. */
export function onBytes(text: string, change: (bytes: string) => string): string {
  if (isAscii(text)) return change(text);
  return fromBytes(Buffer.from(change(toBytes(text).toString('latin1')), 'latin1'));
}

/** Go's white space among single bytes taken for runes. */
export const byteSpace = /[\t-\r \x85\xa0]/;
