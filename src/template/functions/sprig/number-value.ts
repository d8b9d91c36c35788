import { Integer, readDigits } from '../../integer.ts';
import { parseFloat64, parseInteger } from '../../parse/number-literal.ts';
import { typed, TypedValue } from '../../typed-value.ts';

/** What Go's conversion of a float that does not fit gives on amd64. */
const indefinite = -(2n ** 63n);

/** A value that cast can convert: pointers are followed, named types are strangers to it. */
function plain(value: unknown): unknown {
  if (!(value instanceof TypedValue) || value.type.kind !== 'pointer' || value.isNil) return value;
  return typed(value.type.element, value.raw);
}

/** cast.ToInt64: the integer part, the number in a string, 1 for true; 0 for what is no number. */
export function toInt64(value: unknown): bigint {
  const source = plain(value);
  switch (typeof source) {
    case 'bigint':
      return source;
    case 'number':
      return floatToInt64(source);
    case 'string':
      return stringToInt64(source);
    case 'boolean':
      return source ? 1n : 0n;
    default:
      return source instanceof Integer ? BigInt.asIntN(64, source.value) : 0n;
  }
}

/** Go's int64(f) on amd64. */
export function floatToInt64(value: number): bigint {
  if (!(Math.abs(value) < 2 ** 63)) return indefinite;
  return BigInt(Math.trunc(value));
}

function stringToInt64(text: string): bigint {
  // "5.00" counts as an integer.
  const value = parseInteger(text.replace(/\.0*$/, (zeros) => (zeros === '.' ? zeros : '')));
  return value !== undefined && BigInt.asIntN(64, value) === value ? value : 0n;
}

/** cast.ToFloat64, by the same rules. */
export function toFloat64(value: unknown): number {
  const source = plain(value);
  switch (typeof source) {
    case 'bigint':
      return Number(source);
    case 'number':
      return source;
    case 'string':
      return stringToFloat64(source);
    case 'boolean':
      return source ? 1 : 0;
    default:
      return source instanceof Integer ? Number(source.value) : 0;
  }
}

function stringToFloat64(text: string): number {
  const special = /^(?:([+-]?)(inf|infinity)|nan)$/i.exec(text);
  if (special !== null) return special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity;
  return parseFloat64(text) ?? 0;
}

/** strconv.Atoi without its errors: out of range is the nearest int, no number is 0. */
export function atoi(text: string): bigint {
  if (!/^[+-]?[0-9]+$/.test(text)) return 0n;
  const digits = readDigits(text.replace(/^[+-]/, ''));
  const value = text.startsWith('-') ? -digits : digits;
  const limit = 2n ** 63n;
  return value >= limit ? limit - 1n : value < -limit ? -limit : value;
}
