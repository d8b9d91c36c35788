import { equalStrings } from '../go-string.ts';
import { Complex, Integer } from '../integer.ts';
import { readField, typed, TypedValue } from '../typed-value.ts';
import { kindOf, rawEntries, typeNameOf, typeOf, underlying } from '../value-kind.ts';
import { elementsOf } from './elements.ts';
import type { GoType, StructType } from '../go-type.ts';

/** Go's reflect.DeepEqual: the same type, and equal all the way down. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (typeof left === 'string' && typeof right === 'string') return equalStrings(left, right);
  if (typeof left !== 'object' || typeof right !== 'object') return left === right;
  if (left === null || right === null) return left === right;
  if (left instanceof Integer)
    return right instanceof Integer && left.kind === right.kind && left.value === right.value;
  if (left instanceof Complex) {
    return right instanceof Complex && left.real === right.real && left.imaginary === right.imaginary;
  }
  if (kindOf(left) === 'func' || kindOf(right) === 'func' || typeNameOf(left) !== typeNameOf(right)) return false;
  return equalComposites(left, right);
}

function equalComposites(left: object, right: object): boolean {
  if (isNil(left) || isNil(right)) return isNil(left) === isNil(right);
  switch (kindOf(left)) {
    case 'slice':
      return equalLists(elementsOf(left) as unknown[], elementsOf(right) as unknown[]);
    case 'map':
      return equalMaps(left, right);
    case 'struct': {
      const type = typeOf(left) as StructType;
      return type.fields.every((field) =>
        deepEqual(readField(left as TypedValue, field), readField(right as TypedValue, field)),
      );
    }
    case 'ptr': {
      const { element } = typeOf(left) as GoType & { readonly element: GoType };
      return deepEqual(typed(element, (left as TypedValue).raw), typed(element, (right as TypedValue).raw));
    }
    default:
      return deepEqual(underlying(left), underlying(right));
  }
}

function isNil(value: object): boolean {
  return value instanceof TypedValue && value.isNil;
}

function equalLists(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((element, index) => deepEqual(element, right[index]));
}

function equalMaps(left: object, right: object): boolean {
  const { element } = typeOf(left) as GoType & { readonly element: GoType };
  const [a, b] = [rawEntries(left), rawEntries(right)];
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && deepEqual(typed(element, a[key]), typed(element, b[key])))
  );
}
