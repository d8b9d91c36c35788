import { createHash } from 'node:crypto';
import { goFunction } from '../go-function.ts';
import type { FunctionTable } from '../go-function.ts';
import { fromBytes, toBytes } from '../go-string.ts';
import { string } from '../parameters.ts';
import { decodeBase32, encodeBase32 } from './base32.ts';
import { decodeBase64 } from './base64.ts';

function hash(algorithm: 'sha1' | 'sha256' | 'sha512'): FunctionTable[string] {
  return goFunction([string], (text) => createHash(algorithm).update(toBytes(text)).digest('hex'));
}

/** Adler-32 (RFC 1950), in decimal. */
function adler32(text: string): string {
  let a = 1;
  let b = 0;
  for (const byte of toBytes(text)) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return String(b * 65536 + a);
}

/** What a decoder gives: the bytes, or the offset at which the text is wrong. sprig prints Go's error as if it were the result. */
function decoded(encoding: string, result: Uint8Array | number): string {
  return typeof result === 'number' ? `illegal ${encoding} data at input byte ${result}` : fromBytes(result);
}

/** Many times the work of copying a text. */
const decoding = { weight: 12 };

/** sprig's encodings and checksums. */
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
