import type { IntegerKind } from './go-type.ts';

/** A Go integer of another kind than `int` (which is a plain `bigint`): the result of sprig's `add`, a container's port. */
export class Integer {
  readonly kind: Exclude<IntegerKind, 'int'>;
  readonly value: bigint;

  constructor(kind: Exclude<IntegerKind, 'int'>, value: bigint) {
    this.kind = kind;
    this.value = value;
  }
}

/** A Go complex128: only literals such as `1i` make one. */
export class Complex {
  readonly real: number;
  readonly imaginary: number;

  constructor(real: number, imaginary: number) {
    this.real = real;
    this.imaginary = imaginary;
  }
}

const small: readonly bigint[] = Array.from({ length: 1024 }, (_, index) => BigInt(index));

/** A Go `int` from a number that is already integral; small ones are not allocated anew. */
export function int(value: number): bigint {
  return small[value] ?? BigInt(value);
}

/** A Go `int64`, wrapped around at 64 bits as Go's arithmetic is. */
export function int64(value: bigint): Integer {
  return new Integer('int64', BigInt.asIntN(64, value));
}

/** The int64 that is nearest to a number. */
export function clampInt64(value: bigint): bigint {
  const limit = 2n ** 63n;
  return value >= limit ? limit - 1n : value < -limit ? -limit : value;
}

/** Every integer of 64 bits has fewer digits. */
const mostDigits = 20;
const beyond = 10n ** BigInt(mostDigits);

/** The number that decimal digits make. One that is far beyond 64 bits counts as 10^20: reading it exactly takes more than linear time. */
export function readDigits(digits: string): bigint {
  let start = 0;
  while (start < digits.length - 1 && digits[start] === '0') start += 1;
  return digits.length - start > mostDigits ? beyond : BigInt(digits.slice(start));
}
