import { withoutTrailingZeros } from './functions/go/format-float.ts';
import { toBytes } from './go-string.ts';

const nanosecond = 1n;
const second = 1_000_000_000n;
const minute = 60n * second;
const hour = 60n * minute;
const units: ReadonlyMap<string, bigint> = new Map([
  ['ns', nanosecond],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', second],
  ['m', minute],
  ['h', hour],
]);

/** Go's time.Duration.String: `1m30s`, `1.5ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const total = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (total < 1000n) return `${sign}${total}ns`;
  if (total < 1_000_000n) return `${sign}${decimal(total, 3)}µs`;
  if (total < second) return `${sign}${decimal(total, 6)}ms`;
  const hours = total >= hour ? `${total / hour}h` : '';
  const minutes = total >= minute ? `${(total % hour) / minute}m` : '';
  return `${sign}${hours}${minutes}${decimal(total % minute, 9)}s`;
}

/** value / 10^places, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = withoutTrailingZeros(String(value % scale).padStart(places, '0'));
  return `${value / scale}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A duration in nanoseconds, or why a text is none, in the words of Go's time package. */
export type ReadDuration = { readonly nanoseconds: bigint } | { readonly problem: string };

const largest = 2n ** 63n;

/** Go's time.ParseDuration. It reads the text once, from left to right. */
export function readDuration(text: string): ReadDuration {
  const negative = text.startsWith('-');
  let at = negative || text.startsWith('+') ? 1 : 0;
  const invalid = (): ReadDuration => ({ problem: `time: invalid duration ${quoteBytes(text)}` });
  if (text.length - at === 1 && text[at] === '0') return { nanoseconds: 0n };
  if (at === text.length) return invalid();
  let total = 0n;
  while (at < text.length) {
    const whole = endOfDigits(text, at);
    const point = text[whole] === '.';
    const fraction = point ? endOfDigits(text, whole + 1) : whole;
    if (whole === at && fraction - whole < 2) return invalid();
    const count = wholeNumber(text, at, whole);
    if (count === undefined) return invalid();
    const end = endOfUnit(text, fraction);
    if (end === fraction) return { problem: `time: missing unit in duration ${quoteBytes(text)}` };
    const unit = text.slice(fraction, end);
    const scale = units.get(unit);
    if (scale === undefined)
      return { problem: `time: unknown unit ${quoteBytes(unit)} in duration ${quoteBytes(text)}` };
    const part = count * scale + (point ? fractionOf(text, whole + 1, fraction, scale) : 0n);
    if (part > largest) return invalid();
    total = BigInt.asUintN(64, total + part);
    if (total > largest) return invalid();
    at = end;
  }
  if (negative) return { nanoseconds: -total };
  return total === largest ? invalid() : { nanoseconds: total };
}

/** Go's time.ParseDuration in nanoseconds; `undefined` when the text is none or does not fit 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  const read = readDuration(text);
  return 'nanoseconds' in read ? read.nanoseconds : undefined;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

/** A unit ends where the next number begins. */
function endOfUnit(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '.' && !isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

/** The number that these digits make; `undefined` above 2^63. */
function wholeNumber(text: string, from: number, to: number): bigint | undefined {
  let at = from;
  while (at < to - 1 && text[at] === '0') at += 1;
  // No more digits than 2^63 has.
  if (to - at > 19) return undefined;
  const value = BigInt(text.slice(at, to));
  return value > largest ? undefined : value;
}

/** The nanoseconds of a fraction of a unit. Go leaves out the digits that do not fit 63 bits, and multiplies floats. */
function fractionOf(text: string, from: number, to: number, scale: bigint): bigint {
  let value = 0n;
  let divisor = 1;
  for (let at = from; at < to && value <= (largest - 1n) / 10n; at += 1) {
    const next = value * 10n + BigInt(text.charCodeAt(at) - 0x30);
    if (next > largest) break;
    value = next;
    divisor *= 10;
  }
  return value === 0n ? 0n : BigInt(Math.trunc(Number(value) * (Number(scale) / divisor)));
}

/** As Go's time package quotes: every byte that is not printable ASCII becomes `\xHH`. */
function quoteBytes(text: string): string {
  const pieces: string[] = [];
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (code >= 0x20 && code < 0x80) pieces.push(code === 0x22 || code === 0x5c ? `\\${character}` : character);
    else for (const byte of toBytes(character)) pieces.push(`\\x${byte.toString(16).padStart(2, '0')}`);
  }
  return `"${pieces.join('')}"`;
}
