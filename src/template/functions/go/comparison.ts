import { compareStrings, equalStrings } from '../../go-string.ts';
import { Complex, Integer } from '../../integer.ts';
import type { Meter } from '../../exec/meter.ts';
import { isNil, readField, TypedValue } from '../../typed-value.ts';
import type { GoType } from '../../go-type.ts';
import { kindOf, typeNameOf, underlying } from '../../value-kind.ts';
import { sprintf } from './printf.ts';

/** Returns the kind that Go compares; all integer types are one kind. */
function basicKind(value: unknown): 'none' | 'boolean' | 'complex' | 'integer' | 'number' | 'string' {
  if (typeof value === 'bigint' || value instanceof Integer) return 'integer';
  if (value instanceof Complex) return 'complex';
  const type = typeof value;
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'none';
}

/** Converts a number of any integer type to one that JavaScript compares. */
function comparable(value: unknown): unknown {
  return value instanceof Integer ? value.value : value;
}

/** The builtin `eq`: reports whether the first argument equals any later argument. */
export function equal(meter: Meter, first: unknown, ...others: readonly unknown[]): boolean {
  if (others.length === 0) throw new Error('missing argument for comparison');
  return others.some((other) => equalPair(meter, first, other));
}

function equalPair(meter: Meter, first: unknown, second: unknown): boolean {
  const left = underlying(first) ?? null;
  const right = underlying(second) ?? null;
  const kind = basicKind(left);
  if (kind !== basicKind(right)) {
    if (left === null || right === null) return false;
    throw incompatible(first, second);
  }
  return kind === 'none' ? equalOther(meter, left, right) : equalBasics(left, right);
}

function equalBasics(left: unknown, right: unknown): boolean {
  if (typeof left === 'string') return equalStrings(left, right as string);
  if (left instanceof Complex && right instanceof Complex)
    return left.real === right.real && left.imaginary === right.imaginary;
  return comparable(left) === comparable(right);
}

function incompatible(left: unknown, right: unknown): Error {
  return new Error(`incompatible types for comparison: ${typeNameOf(left)} and ${typeNameOf(right)}`);
}

/** Compares lists, maps, pointers, structs and nils. Lists and maps can equal only nil. */
function equalOther(meter: Meter, left: unknown, right: unknown): boolean {
  // Go's message uses %s.
  const shown = (value: unknown): string => sprintf('%s', [value], meter);
  if (left !== null && right !== null && kindOf(left) !== kindOf(right)) {
    const types = `${typeNameOf(left)}, ${typeNameOf(right)}`;
    throw new Error(`non-comparable types ${shown(left)}: ${types}: ${shown(right)}`);
  }
  if (isNil(left) || isNil(right)) return isNil(left) === isNil(right);
  if (!(right instanceof TypedValue && isComparableType(right.type)))
    throw new Error(`non-comparable type ${shown(right)}: ${typeNameOf(right)}`);
  return typeNameOf(left) === typeNameOf(right) && equalValues(left as TypedValue, right);
}

/** Reports whether Go defines == for the type: not for lists, maps, or structs with them. */
function isComparableType(type: GoType): boolean {
  if (type.kind === 'struct') return type.fields.every((field) => isComparableType(field.type));
  return type.kind !== 'slice' && type.kind !== 'map';
}

/** Compares structs by their fields, and pointers by identity. */
function equalValues(left: TypedValue, right: TypedValue): boolean {
  const { type } = left;
  if (type.kind !== 'struct') return left.raw === right.raw;
  return type.fields.every((field) => {
    const [a, b] = [underlying(readField(left, field)), underlying(readField(right, field))];
    return a instanceof TypedValue ? equalValues(a, b as TypedValue) : equalBasics(a, b);
  });
}

/** The builtin `lt`. */
export function less(first: unknown, second: unknown): boolean {
  const left = underlying(first);
  const right = underlying(second);
  const kinds = [basicKind(left), basicKind(right)];
  if (kinds.includes('none')) throw new Error('invalid type for comparison');
  if (kinds[0] !== kinds[1]) throw incompatible(first, second);
  switch (kinds[0]) {
    case 'integer':
    case 'number':
      return (comparable(left) as number) < (comparable(right) as number);
    case 'string':
      return compareStrings(left as string, right as string) < 0;
    default:
      throw new Error('invalid type for comparison');
  }
}
