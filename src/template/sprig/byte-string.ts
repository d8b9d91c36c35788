import { fromBytes, isAscii, toBytes } from '../go-string.ts';

/** Applies to Go strings what works byte by byte: in the arguments each character is one byte, as in the result. */
export function onBytes(change: (...bytes: string[]) => string, ...texts: readonly string[]): string {
  if (texts.every(isAscii)) return change(...texts);
  return fromBytes(Buffer.from(change(...texts.map((text) => toBytes(text).toString('latin1'))), 'latin1'));
}

/** Go's white space among single bytes taken for runes. */
export const byteSpace = /[\t-\r \x85\xa0]/;
