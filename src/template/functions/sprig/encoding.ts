import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { goFunction, type FunctionTable } from '../go/go-function.ts';
import { fromBytes, toBytes } from '../../go-string.ts';
import { string } from '../../exec/parameters.ts';
import { decodeBase32, encodeBase32 } from './base32.ts';

function hash(algorithm: 'sha1' | 'sha256' | 'sha512'): FunctionTable[string] {
  return goFunction([string], (text) => createHash(algorithm).update(toBytes(text)).digest('hex'));
}

/** Returns Adler-32 (RFC 1950) in decimal. */
function adler32(text: string): string {
  let a = 1;
  let b = 0;
  for (const byte of toBytes(text)) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return String(b * 65536 + a);
}

/** Returns the decoded text; if `result` is an offset, Go's error message, as sprig does. */
function decoded(encoding: string, result: Uint8Array | number): string {
  return typeof result === 'number' ? `illegal ${encoding} data at input byte ${result}` : fromBytes(result);
}

/** Decoding costs many times the work of copying a text. */
const decoding = { weight: 12 };

export const encodingFunctions: FunctionTable = {
  adler32sum: goFunction([string], adler32),
  b32dec: goFunction([string], (text) => decoded('base32', decodeBase32(toBytes(text))), decoding),
  b32enc: goFunction([string], (text) => encodeBase32(toBytes(text)), { weight: 4 }),
  b64dec: goFunction([string], (text) => decoded('base64', decodeBase64(toBytes(text))), decoding),
  b64enc: goFunction([string], (text) => toBytes(text).toString('base64')),
  sha1sum: hash('sha1'),
  sha256sum: hash('sha256'),
  sha512sum: hash('sha512'),
};

const padding = 0x3d;
const newlines: ReadonlySet<number | undefined> = new Set([0x0a, 0x0d]);

/**
 * Decodes standard base64 with padding, ignoring line breaks (Go's base64.StdEncoding).
 * @returns the bytes, or the offset that Go reports for invalid input
 */
function decodeBase64(source: Uint8Array): Uint8Array | number {
  let at = 0;
  let symbols = 0;
  const skipNewlines = (): void => {
    while (newlines.has(source[at])) at += 1;
  };
  skipNewlines();
  while (at < source.length && /[A-Za-z0-9+/]/.test(String.fromCharCode(source[at] ?? 0))) {
    at += 1;
    symbols += 1;
    skipNewlines();
  }
  const place = symbols % 4;
  // Go counts back by the symbols of the incomplete group, ignoring line breaks.
  if (at >= source.length)
    return place === 0 ? Buffer.from(Buffer.from(source).toString('latin1'), 'base64') : at - place;
  if (source[at] !== padding || place < 2) return at;
  at += 1;
  if (place === 2) {
    skipNewlines();
    if (at === source.length) return at;
    if (source[at] !== padding) return at - 1;
    at += 1;
  }
  skipNewlines();
  return at < source.length ? at : Buffer.from(Buffer.from(source).toString('latin1'), 'base64');
}
