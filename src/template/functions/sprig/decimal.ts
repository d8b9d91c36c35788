import { formatFloat } from '../go/format-float.ts';
import { toFloat64 } from './number-value.ts';

/** An exact decimal: coefficient × 10^exponent (github.com/shopspring/decimal). */
interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** The number of digits after the point in a quotient. */
const divisionPrecision = 16;

/**
 * sprig's arithmetic on floats: converts each float to its printed decimal, so 0.1 + 0.2 is 0.3.
 * @throws Error for NaN, infinities and division by zero, for which sprig panics
 */
export function decimalOperation(
  first: unknown,
  others: readonly unknown[],
  operation: keyof typeof operations,
): number {
  let result = fromFloat(toFloat64(first));
  for (const other of others) result = operations[operation](result, fromFloat(toFloat64(other)));
  return Number(`${result.coefficient}e${result.exponent}`);
}

function fromFloat(value: number): Decimal {
  if (!Number.isFinite(value)) throw new Error(`Cannot create a Decimal from ${formatFloat(value, 'g', -1)}`);
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { coefficient: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

function scaled({ coefficient, exponent }: Decimal, to: number): bigint {
  return coefficient * 10n ** BigInt(exponent - to);
}

function add(left: Decimal, right: Decimal): Decimal {
  const exponent = Math.min(left.exponent, right.exponent);
  return { coefficient: scaled(left, exponent) + scaled(right, exponent), exponent };
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Divides, and rounds half away from zero. */
function divide(left: Decimal, right: Decimal): Decimal {
  if (right.coefficient === 0n) throw new Error('decimal division by 0');
  const shift = left.exponent - right.exponent + divisionPrecision;
  const numerator = shift > 0 ? left.coefficient * 10n ** BigInt(shift) : left.coefficient;
  const denominator = shift < 0 ? right.coefficient * 10n ** BigInt(-shift) : right.coefficient;
  const quotient = numerator / denominator;
  const rest = absolute(numerator % denominator);
  const away = numerator < 0n === denominator < 0n ? 1n : -1n;
  return { coefficient: 2n * rest < absolute(denominator) ? quotient : quotient + away, exponent: -divisionPrecision };
}

const operations = {
  add,
  subtract: (left: Decimal, right: Decimal) => add(left, { ...right, coefficient: -right.coefficient }),
  multiply: (left: Decimal, right: Decimal) => ({
    coefficient: left.coefficient * right.coefficient,
    exponent: left.exponent + right.exponent,
  }),
  divide,
};
