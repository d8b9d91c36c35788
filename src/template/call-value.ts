import { canBeNil, isAssignable, nilOf } from './assign.ts';
import { GoFunction } from './go-function.ts';
import { typeName } from './go-type.ts';
import type { GoType } from './go-type.ts';
import { cost, shallowCost } from './meter.ts';
import type { Meter } from './meter.ts';
import { typeNameOf, typeOf } from './value-kind.ts';

/**
 * The builtin `call`: calls a function that is a value of the data.
 *
 * @param callee How the template names it, for errors.
 */
export function callValue(meter: Meter, callee: unknown, value: unknown, ...args: readonly unknown[]): unknown {
  if (value === undefined || value === null) throw new Error('call of nil');
  if (!(value instanceof GoFunction)) throw new Error(`non-function ${String(callee)} of type ${typeNameOf(value)}`);
  const { parameters, rest } = value;
  if (rest === undefined ? args.length !== parameters.length : args.length < parameters.length) {
    const want = rest === undefined ? String(parameters.length) : `at least ${parameters.length}`;
    throw new Error(`wrong number of args for ${String(callee)}: got ${args.length} want ${want}`);
  }
  const prepared = args.map((arg, index) => prepare(arg, (parameters[index] ?? rest) as GoType, index));
  const units = prepared.reduce<number>((sum, arg) => sum + shallowCost(arg), cost.step);
  meter.spend(units * (value.traits.weight ?? 1));
  return value.metered ? value.invoke(meter, ...prepared) : value.invoke(...prepared);
}

function prepare(value: unknown, type: GoType, index: number): unknown {
  if (value === undefined || value === null) {
    if (canBeNil(type)) return nilOf(type);
    throw new Error(`arg ${index}: value is nil; should be of type ${typeName(type)}`);
  }
  if (value instanceof GoFunction || !isAssignable(typeOf(value), type)) {
    if (type.kind === 'interface') return value;
    throw new Error(`arg ${index}: value has type ${typeNameOf(value)}; should be ${typeName(type)}`);
  }
  return value;
}
