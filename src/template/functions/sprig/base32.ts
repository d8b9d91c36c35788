import { Buffer } from 'node:buffer';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const padding = '=';

/** Encodes standard base32 with padding (RFC 4648). */
export function encodeBase32(source: Uint8Array): string {
  const symbols: string[] = [];
  let bits = 0;
  let count = 0;
  for (const byte of source) {
    bits = ((bits << 8) | byte) & 0xfff;
    count += 8;
    for (; count >= 5; count -= 5) symbols.push(alphabet.charAt((bits >> (count - 5)) & 31));
  }
  if (count > 0) symbols.push(alphabet.charAt((bits << (5 - count)) & 31));
  return symbols.join('').padEnd(Math.ceil(symbols.length / 8) * 8, padding);
}

/**
 * Go's base32.StdEncoding.DecodeString: requires padding, ignores line breaks.
 * @returns the bytes, or the offset that Go reports for invalid input
 */
export function decodeBase32(source: Uint8Array): Uint8Array | number {
  const text = Buffer.from(source)
    .toString('latin1')
    .replace(/[\r\n]/g, '');
  const bytes: number[] = [];
  for (let start = 0; start < text.length; start += 8) {
    const group = decodeGroup(text, start);
    if (typeof group === 'number') return group;
    bytes.push(...group);
    // Padding ends the text; the rest is ignored.
    if (group.length < 5) break;
  }
  return Uint8Array.from(bytes);
}

function decodeGroup(text: string, start: number): number[] | number {
  let bits = '';
  for (let place = 0; place < 8; place += 1) {
    const at = start + place;
    if (at >= text.length) return start;
    const symbol = text.charAt(at);
    const left = text.length - at - 1;
    if (symbol === padding && place >= 2 && left < 8) {
      const wrong = checkPadding(text, at, place, left);
      if (wrong !== undefined) return wrong;
      break;
    }
    const value = alphabet.indexOf(symbol);
    if (value < 0) return at;
    bits += value.toString(2).padStart(5, '0');
  }
  return Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2),
  );
}

/** Checks the padding from `at` on; returns the offset of Go's error, or undefined. */
function checkPadding(text: string, at: number, place: number, left: number): number | undefined {
  if (left + place < 7) return text.length;
  for (let offset = 0; offset < 7 - place; offset += 1) {
    if (text.charAt(at + 1 + offset) !== padding) return at + offset;
  }
  return [1, 3, 6].includes(place) ? at : undefined;
}
