/** The part of Node's `node:buffer` that the engine uses, for browsers. */
class Bytes extends Uint8Array {
  override toString(encoding: Encoding = 'utf8'): string {
    if (encoding === 'utf8') return decoder.decode(this);
    const text = Array.from(this, (byte) => String.fromCharCode(byte)).join('');
    return encoding === 'base64' ? btoa(text) : text;
  }

  /** Writes a text as UTF-8, and returns the number of bytes. */
  write(text: string, offset: number): number {
    return encoder.encodeInto(text, this.subarray(offset)).written;
  }
}

type Encoding = 'utf8' | 'latin1' | 'base64';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function ofCharacters(text: string): Bytes {
  const bytes = new Bytes(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export const Buffer = {
  /** Copies bytes, or encodes a text. The callers pass only valid base64. */
  from(source: string | Uint8Array, encoding: Encoding = 'utf8'): Bytes {
    if (typeof source !== 'string') return new Bytes(source);
    if (encoding === 'utf8') return new Bytes(encoder.encode(source));
    return ofCharacters(encoding === 'base64' ? atob(source) : source);
  },
  allocUnsafe: (size: number): Bytes => new Bytes(size),
  byteLength: (text: string): number => encoder.encode(text).length,
  compare(left: Uint8Array, right: Uint8Array): number {
    const common = Math.min(left.length, right.length);
    for (let at = 0; at < common; at += 1)
      if (left[at] !== right[at]) return (left[at] as number) < (right[at] as number) ? -1 : 1;
    return Math.sign(left.length - right.length);
  },
};
