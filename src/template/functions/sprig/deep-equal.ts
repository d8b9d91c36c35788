import { equalStrings } from '../../go-string.ts';
import { Complex, Integer } from '../../integer.ts';
import { cost, mapCost } from '../../exec/meter.ts';
import type { Meter } from '../../exec/meter.ts';
import { readField, typed, TypedValue } from '../../typed-value.ts';
import { kindOf, rawEntries, typeNameOf, typeOf, underlying } from '../../value-kind.ts';
import { elementsOf } from './elements.ts';
import type { GoType, StructType } from '../../go-type.ts';

/** Go's reflect.DeepEqual: the same type, and equal all the way down. */
export function deepEqual(meter: Meter, left: unknown, right: unknown, depth = 0): boolean {
  meter.spend(cost.step);
  if (typeof left === 'string' && typeof right === 'string') {
    meter.spend((left.length + right.length) >> 2);
    return equalStrings(left, right);
  }
  if (typeof left !== 'object' || typeof right !== 'object') return left === right;
  if (left === null || right === null) return left === right;
  if (left instanceof Integer)
    return right instanceof Integer && left.kind === right.kind && left.value === right.value;
  if (left instanceof Complex) {
    return right instanceof Complex && left.real === right.real && left.imaginary === right.imaginary;
  }
  if (kindOf(left) === 'func' || kindOf(right) === 'func' || typeNameOf(left) !== typeNameOf(right)) return false;
  meter.visit(depth);
  return equalComposites(meter, left, right, depth + 1);
}

function equalComposites(meter: Meter, left: object, right: object, depth: number): boolean {
  if (isNil(left) || isNil(right)) return isNil(left) === isNil(right);
  switch (kindOf(left)) {
    case 'slice':
      return equalLists(meter, elementsOf(left) as unknown[], elementsOf(right) as unknown[], depth);
    case 'map':
      return equalMaps(meter, left, right, depth);
    case 'struct': {
      const type = typeOf(left) as StructType;
      return type.fields.every((field) =>
        deepEqual(meter, readField(left as TypedValue, field), readField(right as TypedValue, field), depth),
      );
    }
    case 'ptr': {
      const { element } = typeOf(left) as GoType & { readonly element: GoType };
      return deepEqual(
        meter,
        typed(element, (left as TypedValue).raw),
        typed(element, (right as TypedValue).raw),
        depth,
      );
    }
    default:
      return deepEqual(meter, underlying(left), underlying(right), depth);
  }
}

function isNil(value: object): boolean {
  return value instanceof TypedValue && value.isNil;
}

function equalLists(meter: Meter, left: readonly unknown[], right: readonly unknown[], depth: number): boolean {
  return left.length === right.length && left.every((element, index) => deepEqual(meter, element, right[index], depth));
}

function equalMaps(meter: Meter, left: object, right: object, depth: number): boolean {
  const { element } = typeOf(left) as GoType & { readonly element: GoType };
  const [a, b] = [rawEntries(left), rawEntries(right)];
  meter.spend(mapCost(a) + mapCost(b));
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) => Object.hasOwn(b, key) && deepEqual(meter, typed(element, a[key]), typed(element, b[key]), depth),
    )
  );
}
