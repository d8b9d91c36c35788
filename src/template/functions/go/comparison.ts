import { compareStrings, equalStrings } from '../../go-string.ts';
import { Complex, Integer } from '../../integer.ts';
import type { Meter } from '../../exec/meter.ts';
import { readField, TypedValue } from '../../typed-value.ts';
import type { GoType } from '../../go-type.ts';
import { kindOf, typeNameOf, underlying } from '../../value-kind.ts';
import { sprintf } from './printf.ts';

/** The kinds that Go compares: all integers are one, but for their sign. */
type BasicKind = 'none' | 'bool' | 'complex' | 'int' | 'uint' | 'float' | 'string';

function basicKind(value: unknown): BasicKind {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float';
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    default:
      if (value instanceof Integer) return value.kind.startsWith('u') ? 'uint' : 'int';
      return value instanceof Complex ? 'complex' : 'none';
  }
}

function integer(value: unknown): bigint {
  return value instanceof Integer ? value.value : (value as bigint);
}

/** The builtin `eq`: whether the first is equal to any of the others. */
export function equal(meter: Meter, first: unknown, ...others: readonly unknown[]): boolean {
  if (others.length === 0) throw new Error('missing argument for comparison');
  return others.some((other) => equalPair(meter, first, other));
}

function equalPair(meter: Meter, first: unknown, second: unknown): boolean {
  const left = underlying(first);
  const right = underlying(second);
  const leftKind = basicKind(left);
  const rightKind = basicKind(right);
  const integers = isInteger(leftKind) && isInteger(rightKind);
  if (leftKind !== rightKind && !integers) {
    if ((left ?? null) === null || (right ?? null) === null) return false;
    throw incompatible(first, second);
  }
  switch (leftKind) {
    case 'none':
      return equalOther(meter, left ?? null, right ?? null);
    case 'int':
    case 'uint':
      return integer(left) === integer(right);
    case 'string':
      return equalStrings(left as string, right as string);
    case 'complex':
      return (
        (left as Complex).real === (right as Complex).real &&
        (left as Complex).imaginary === (right as Complex).imaginary
      );
    default:
      return left === right;
  }
}

function isInteger(kind: BasicKind): boolean {
  return kind === 'int' || kind === 'uint';
}

function incompatible(left: unknown, right: unknown): Error {
  return new Error(`incompatible types for comparison: ${typeNameOf(left)} and ${typeNameOf(right)}`);
}

/** Lists, maps, pointers, structs and nils: only nil and pointers can be compared. */
function equalOther(meter: Meter, left: unknown, right: unknown): boolean {
  if (left !== null && right !== null && kindOf(left) !== kindOf(right)) {
    throw new Error(
      `non-comparable types ${printableInMessage(left, meter)}: ${typeNameOf(left)}, ${typeNameOf(right)}: ${printableInMessage(right, meter)}`,
    );
  }
  const leftNil = isNil(left);
  const rightNil = isNil(right);
  if (leftNil || rightNil) return leftNil === rightNil;
  if (!isComparable(right))
    throw new Error(`non-comparable type ${printableInMessage(right, meter)}: ${typeNameOf(right)}`);
  return typeNameOf(left) === typeNameOf(right) && equalValues(left as TypedValue, right as TypedValue);
}

/** Whether Go's == is defined: not for lists, maps, functions, and structs that hold any. */
function isComparable(value: unknown): boolean {
  return value instanceof TypedValue && isComparableType(value.type);
}

function isComparableType(type: GoType): boolean {
  if (type.kind === 'struct') return type.fields.every((field) => isComparableType(field.type));
  return type.kind !== 'slice' && type.kind !== 'map';
}

/** Structs are equal by their fields, pointers when they point at the same. */
function equalValues(left: TypedValue, right: TypedValue): boolean {
  const { type } = left;
  if (type.kind !== 'struct') return left.raw === right.raw;
  return type.fields.every((field) => {
    const [a, b] = [readField(left, field), readField(right, field)];
    const plain = underlying(a);
    if (!(plain instanceof TypedValue)) return deepEqualScalars(plain, underlying(b));
    return equalValues(plain, b as TypedValue);
  });
}

function deepEqualScalars(left: unknown, right: unknown): boolean {
  return left instanceof Integer ? left.value === (right as Integer).value : left === right;
}

function isNil(value: unknown): boolean {
  return value === null || (value instanceof TypedValue && value.isNil);
}

/** The builtin `lt`. */
export function less(first: unknown, second: unknown): boolean {
  const left = underlying(first);
  const right = underlying(second);
  const leftKind = ordered(left);
  const rightKind = ordered(right);
  if (leftKind !== rightKind && !(isInteger(leftKind) && isInteger(rightKind))) throw incompatible(first, second);
  switch (leftKind) {
    case 'int':
    case 'uint':
      return integer(left) < integer(right);
    case 'float':
      return (left as number) < (right as number);
    case 'string':
      return compareStrings(left as string, right as string) < 0;
    default:
      throw new Error('invalid type for comparison');
  }
}

function ordered(value: unknown): BasicKind {
  const kind = basicKind(value);
  if (kind === 'none') throw new Error('invalid type for comparison');
  return kind;
}

/** The builtin `le`. */
export function lessOrEqual(meter: Meter, first: unknown, second: unknown): boolean {
  return less(first, second) || equal(meter, first, second);
}

/** The builtin `gt`: the inverse of `le`, also for NaN, as in Go. */
export function greater(meter: Meter, first: unknown, second: unknown): boolean {
  return !lessOrEqual(meter, first, second);
}

/** The builtin `ge`: the inverse of `lt`, also for NaN, as in Go. */
export function greaterOrEqual(first: unknown, second: unknown): boolean {
  return !less(first, second);
}

/** A value inside an error message, where Go uses `%s`. */
function printableInMessage(value: unknown, meter: Meter): string {
  return sprintf('%s', [value], meter);
}
