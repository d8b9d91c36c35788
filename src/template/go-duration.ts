import { withoutTrailingZeros } from './functions/go/format-float.ts';
import { toBytes } from './go-string.ts';
import { readDigits } from './integer.ts';

const second = 1_000_000_000n;
const minute = 60n * second;
const hour = 60n * minute;
const units: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
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

/** Formats value / 10^places, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = withoutTrailingZeros(String(value % scale).padStart(places, '0'));
  return `${value / scale}${fraction === '' ? '' : `.${fraction}`}`;
}

const largest = 2n ** 63n;
/** A number and its unit, which ends before the next number. */
const part = /([0-9]*)(?:\.([0-9]*))?([^.0-9]*)/y;

/** Go's time.ParseDuration, in nanoseconds; reads the text once. @throws Error with Go's message */
export function parseDuration(text: string): bigint {
  const invalid = (): Error => new Error(`time: invalid duration ${quoteBytes(text)}`);
  const negative = text.startsWith('-');
  const rest = negative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return 0n;
  if (rest === '') throw invalid();
  let total = 0n;
  for (part.lastIndex = 0; part.lastIndex < rest.length;) {
    const [, whole = '', fraction = '', unit = ''] = part.exec(rest) as RegExpExecArray;
    const count = readDigits(whole);
    if ((whole === '' && fraction === '') || count > largest) throw invalid();
    if (unit === '') throw new Error(`time: missing unit in duration ${quoteBytes(text)}`);
    const scale = units.get(unit);
    if (scale === undefined) throw new Error(`time: unknown unit ${quoteBytes(unit)} in duration ${quoteBytes(text)}`);
    const nanoseconds = count * scale + fractionOf(fraction, scale);
    if (nanoseconds > largest) throw invalid();
    total = BigInt.asUintN(64, total + nanoseconds);
    if (total > largest) throw invalid();
  }
  if (negative) return -total;
  if (total === largest) throw invalid();
  return total;
}

/** Converts a fraction to nanoseconds; like Go, drops digits beyond 63 bits and uses floats. */
function fractionOf(digits: string, scale: bigint): bigint {
  let value = 0n;
  let divisor = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (value > (largest - 1n) / 10n || next > largest) break;
    value = next;
    divisor *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(scale) / divisor)));
}

/** Quotes like Go's time package: every byte that is not printable ASCII becomes `\xHH`. */
export function quoteBytes(text: string): string {
  const pieces = Array.from(toBytes(text), (byte) => {
    if (byte < 0x20 || byte >= 0x80) return `\\x${byte.toString(16).padStart(2, '0')}`;
    return String.fromCharCode(byte).replace(/["\\]/, '\\$&');
  });
  return `"${pieces.join('')}"`;
}
