import { clampInt64, Integer, readDigits } from '../../integer.ts';
import { parseFloat64, parseInteger } from '../../parse/number-literal.ts';
import { typed, TypedValue } from '../../typed-value.ts';
import { elementType } from '../../value-kind.ts';

/** Go's result on amd64 when a float does not fit. */
const indefinite = -(2n ** 63n);

/** Converts a value as cast does: follows pointers; true becomes 1; other types become 0. */
function plain(value: unknown): bigint | number | string {
  const isPointer = value instanceof TypedValue && value.type.kind === 'pointer' && !value.isNil;
  const source = isPointer ? typed(elementType(value), value.raw) : value;
  if (source instanceof Integer) return source.value;
  if (typeof source === 'bigint' || typeof source === 'number' || typeof source === 'string') return source;
  return source === true ? 1n : 0n;
}

/** cast.ToInt64: returns the integer part, or the number in a string. */
export function toInt64(value: unknown): bigint {
  const source = plain(value);
  if (typeof source === 'string') return stringToInt64(source);
  return typeof source === 'number' ? floatToInt64(source) : BigInt.asIntN(64, source);
}

/** Go's int64(f) on amd64. */
export function floatToInt64(value: number): bigint {
  if (!(Math.abs(value) < 2 ** 63)) return indefinite;
  return BigInt(Math.trunc(value));
}

function stringToInt64(text: string): bigint {
  // "5.00" and "5.0." count as integers; "5." does not.
  const value = parseInteger(text.replace(/\.0+\.*$/, ''));
  return value !== undefined && BigInt.asIntN(64, value) === value ? value : 0n;
}

/** cast.ToFloat64, by the rules of {@link toInt64}. */
export function toFloat64(value: unknown): number {
  const source = plain(value);
  return typeof source === 'string' ? stringToFloat64(source) : Number(source);
}

function stringToFloat64(text: string): number {
  const special = /^(?:([+-]?)(inf|infinity)|nan)$/i.exec(text);
  if (special !== null) return special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity;
  return parseFloat64(text) ?? 0;
}

/** strconv.Atoi without errors: the nearest int, or 0; ignores text after an overflow. */
export function atoi(text: string): bigint {
  const [, sign, number = '', rest] = /^([+-]?)([0-9]+)(.*)$/s.exec(text) ?? [];
  const digits = readDigits(number);
  if (rest !== '' && digits < 2n ** 64n) return 0n;
  return clampInt64(sign === '-' ? -digits : digits);
}
