/**
 * Go strings are bytes; JavaScript strings are UTF-16. A byte outside of valid UTF-8 (which `trunc`
 * or `slice` can leave) is kept as a lone surrogate U+DC80 … U+DCFF, like Python's surrogateescape.
 */

import { Buffer } from 'node:buffer';

const loneEscape = /[\udc80-\udcff]/u;
const nonAscii = /[^\0-\x7f]/;

/** Reports whether the string has bytes that are not UTF-8. */
export function hasStrayBytes(text: string): boolean {
  return !text.isWellFormed() && loneEscape.test(text);
}

/** Reports whether the string's bytes equal its UTF-16 units. */
export function isAscii(text: string): boolean {
  return !nonAscii.test(text);
}

/** Go's `len(text)`, in bytes. */
export function byteLength(text: string): number {
  if (isAscii(text)) return text.length;
  return hasStrayBytes(text) ? toBytes(text).length : Buffer.byteLength(text);
}

/** Returns the bytes of a Go string. */
export function toBytes(text: string): Buffer {
  if (!hasStrayBytes(text)) return Buffer.from(text);
  const bytes = Buffer.allocUnsafe(text.length * 3);
  let size = 0;
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // Skips the second half of a surrogate pair. At the start of the text, `before` is NaN.
    const before = text.charCodeAt(at - 1);
    if (code < 0xdc80 || code > 0xdcff || (before >= 0xd800 && before <= 0xdbff)) continue;
    if (at > copied) size += bytes.write(text.slice(copied, at), size);
    bytes[size] = code - 0xdc00;
    size += 1;
    copied = at + 1;
  }
  if (copied < text.length) size += bytes.write(text.slice(copied), size);
  return bytes.subarray(0, size);
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the Go string for any bytes, even if they are not UTF-8. */
export function fromBytes(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return decodeLossless(bytes);
  }
}

function decodeLossless(bytes: Uint8Array): string {
  const pieces: string[] = [];
  let decoded = 0;
  const decodeUntil = (end: number): void => {
    if (end > decoded) pieces.push(strict.decode(bytes.subarray(decoded, end)));
  };
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    decodeUntil(at);
    let stray = '';
    for (; at < bytes.length && sequenceLength(bytes, at) === 0; at += 1)
      stray += String.fromCharCode(0xdc00 + (bytes[at] as number));
    pieces.push(stray);
    decoded = at;
  }
  decodeUntil(bytes.length);
  return pieces.join('');
}

/** Returns the length of the valid UTF-8 sequence at `at`, or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const second = bytes[at + 1] as number;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let offset = 2; offset < length; offset += 1) {
    if (((bytes[at + offset] as number) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** Returns the bytes `from` … `to` (exclusive) of a Go string. */
export function sliceBytes(text: string, from: number, to: number): string {
  return isAscii(text) ? text.slice(from, to) : fromBytes(toBytes(text).subarray(from, to));
}

/** Decodes stray bytes that form UTF-8, so that equal Go strings are equal in JavaScript. */
export function canonical(text: string): string {
  return hasStrayBytes(text) ? fromBytes(toBytes(text)) : text;
}

/** Replaces each stray byte by U+FFFD, as a UTF-8 consumer does. */
export function toWellFormed(text: string): string {
  return hasStrayBytes(text) ? canonical(text).replace(/[\udc80-\udcff]/gu, '\ufffd') : text;
}

/** Returns the code points of a Go string, as its range loop does: a stray byte is U+FFFD. */
export function runes(text: string): number[] {
  return Array.from(toWellFormed(text), (character) => character.codePointAt(0) as number);
}

/** Compares Go strings bytewise: negative, 0 or positive. */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  if (isAscii(left) && isAscii(right)) return left < right ? -1 : 1;
  return Buffer.compare(toBytes(left), toBytes(right));
}

/** Go's `==` on strings. */
export function equalStrings(left: string, right: string): boolean {
  return left === right || ((hasStrayBytes(left) || hasStrayBytes(right)) && canonical(left) === canonical(right));
}

/** Matches keys that UTF-16 and bytewise comparison order alike: those up to U+D7FF. */
const ordered = /^[\0-\ud7ff]*$/;

/** Returns an object's own keys in Go's order. */
export function sortedKeys(object: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(object);
  return keys.every((key) => ordered.test(key)) ? keys.sort() : keys.sort(compareStrings);
}
