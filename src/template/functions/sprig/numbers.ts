import { goFunction, goVariadic, meteredFunction, meteredVariadic, type FunctionTable } from '../go/go-function.ts';
import { intType, sliceOf } from '../../go-type.ts';
import { int, int64 } from '../../integer.ts';
import { parseInteger } from '../../parse/number-literal.ts';
import { cost, type Meter } from '../../exec/meter.ts';
import { any, float64, integer, string } from '../../exec/parameters.ts';
import { formatValue } from '../go/print-value.ts';
import { TypedValue } from '../../typed-value.ts';
import { decimalOperation } from './decimal.ts';
import { atoi, toFloat64, toInt64 } from './number-value.ts';

function dividing(divisor: bigint): bigint {
  if (divisor === 0n) throw new Error('runtime error: integer divide by zero');
  return divisor;
}

/** Returns the numbers from start up (or down) to stop, exclusive. */
function untilStep(meter: Meter, start: number, stop: number, step: number): bigint[] {
  const numbers: bigint[] = [];
  if (stop < start ? step >= 0 : step <= 0) return numbers;
  // Counts the steps, because adding a step to a large float may not change the float.
  const count = Math.ceil((stop - start) / step);
  meter.spend(count * cost.element);
  for (let index = 0; index < count; index += 1) numbers.push(int(start + index * step));
  return numbers;
}

function integers(numbers: readonly bigint[]): TypedValue {
  return new TypedValue(sliceOf(intType), numbers);
}

/** sprig's seq, like the shell's: LAST, FIRST LAST or FIRST STEP LAST. */
function sequence(meter: Meter, parameters: readonly bigint[]): string {
  const numbers = parameters.map(Number);
  if (numbers.length === 0 || numbers.length > 3) return '';
  const last = numbers.at(-1) as number;
  const first = numbers.length === 1 ? 1 : (numbers[0] as number);
  const direction = last < first ? -1 : 1;
  const step = numbers.length === 3 ? (numbers[1] as number) : direction;
  if (numbers.length === 3 && direction < 0 && step > 0) return '';
  return untilStep(meter, first, last + direction, step).join(' ');
}

/** Rounds at a decimal place, up from `roundOn`. Like sprig, rounds most negative numbers down. */
function round(value: unknown, places: bigint, ...options: readonly number[]): number {
  const power = 10 ** Number(places);
  const digits = power * toFloat64(value);
  const rounded = digits - Math.trunc(digits) >= (options[0] ?? 0.5) ? Math.ceil(digits) : Math.floor(digits);
  return rounded / power;
}

/** Returns the octal number in the value's text, else 0. */
function toDecimal(meter: Meter, value: unknown): bigint {
  const match = /^([+-]?)([0-7]+)$/.exec(formatValue(value, meter));
  const number = parseInteger(match === null ? '0' : `${String(match[1])}0o${String(match[2])}`) as bigint;
  return BigInt.asIntN(64, number) === number ? number : 0n;
}

function extreme(better: (left: bigint, right: bigint) => boolean): FunctionTable[string] {
  return goVariadic([any], any, (first, ...others) =>
    int64(others.map(toInt64).reduce((best, number) => (better(number, best) ? number : best), toInt64(first))),
  );
}

/** Go's math.Max or math.Min: infinity in that direction takes precedence over NaN. */
function extremeFloat(best: typeof Math.max, infinity: number): FunctionTable[string] {
  return goVariadic([any], any, (...values) => {
    const numbers = values.map(toFloat64);
    return numbers.includes(infinity) ? infinity : best(...numbers);
  });
}

const max = extreme((left, right) => left > right);

export const numberFunctions: FunctionTable = {
  add: goVariadic([], any, (...values) => int64(values.map(toInt64).reduce((sum, value) => sum + value, 0n))),
  add1: goFunction([any], (value) => int64(toInt64(value) + 1n)),
  add1f: goFunction([any], (value) => decimalOperation(value, [1], 'add')),
  addf: goVariadic([], any, (...values) => decimalOperation(0, values, 'add')),
  atoi: goFunction([string], atoi),
  biggest: max,
  ceil: goFunction([any], (value) => Math.ceil(toFloat64(value))),
  div: goFunction([any, any], (left, right) => int64(toInt64(left) / dividing(toInt64(right)))),
  divf: goVariadic([any], any, (first, ...others) => decimalOperation(first, others, 'divide')),
  float64: goFunction([any], toFloat64),
  floor: goFunction([any], (value) => Math.floor(toFloat64(value))),
  int: goFunction([any], toInt64),
  int64: goFunction([any], (value) => int64(toInt64(value))),
  max,
  maxf: extremeFloat(Math.max, Infinity),
  min: extreme((left, right) => left < right),
  minf: extremeFloat(Math.min, -Infinity),
  mod: goFunction([any, any], (left, right) => int64(toInt64(left) % dividing(toInt64(right)))),
  mul: goVariadic([any], any, (first, ...others) =>
    int64(others.map(toInt64).reduce((product, value) => BigInt.asIntN(64, product * value), toInt64(first))),
  ),
  mulf: meteredVariadic([any], any, (meter, first, ...others) => {
    // The exact product grows with each factor.
    meter.spend(others.length ** 2);
    return decimalOperation(first, others, 'multiply');
  }),
  round: goVariadic([any, integer], float64, round),
  seq: meteredVariadic([], integer, (meter, ...parameters) => sequence(meter, parameters)),
  sub: goFunction([any, any], (left, right) => int64(toInt64(left) - toInt64(right))),
  subf: goVariadic([any], any, (first, ...others) => decimalOperation(first, others, 'subtract')),
  toDecimal: meteredFunction([any], (meter, value) => int64(toDecimal(meter, value))),
  until: meteredFunction([integer], (meter, count) =>
    integers(untilStep(meter, 0, Number(count), count < 0n ? -1 : 1)),
  ),
  untilStep: meteredFunction([integer, integer, integer], (meter, start, stop, step) =>
    integers(untilStep(meter, Number(start), Number(stop), Number(step))),
  ),
};
