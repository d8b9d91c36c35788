import type { IntegerKind } from './go-type.ts';

/** A Go integer of another kind than `int`, e.g. a container's port. An `int` is a `bigint`. */
export class Integer {
  readonly kind: Exclude<IntegerKind, 'int'>;
  readonly value: bigint;

  constructor(kind: Exclude<IntegerKind, 'int'>, value: bigint) {
    this.kind = kind;
    this.value = value;
  }
}

/** A Go complex128, which only literals like `1i` make. */
export class Complex {
  readonly real: number;
  readonly imaginary: number;

  constructor(real: number, imaginary: number) {
    this.real = real;
    this.imaginary = imaginary;
  }
}

const small: readonly bigint[] = Array.from({ length: 1024 }, (_, index) => BigInt(index));

/** Converts an integral number to a Go `int`; reuses small values. */
export function int(value: number): bigint {
  return small[value] ?? BigInt(value);
}

/** Makes a Go `int64`, wrapping at 64 bits like Go's arithmetic. */
export function int64(value: bigint): Integer {
  return new Integer('int64', BigInt.asIntN(64, value));
}

/** Returns the nearest int64. */
export function clampInt64(value: bigint): bigint {
  const limit = 2n ** 63n;
  return value >= limit ? limit - 1n : value < -limit ? -limit : value;
}

/** The maximum number of digits of a 64-bit integer. */
const maximumDigits = 20;
const tooLarge = 10n ** BigInt(maximumDigits);

/** Parses decimal digits. Returns 10^20 for longer numbers, whose parsing is not linear. */
export function readDigits(digits: string): bigint {
  let start = 0;
  while (start < digits.length - 1 && digits[start] === '0') start += 1;
  return digits.length - start > maximumDigits ? tooLarge : BigInt(digits.slice(start));
}
