import { equalStrings } from '../../go-string.ts';
import { Complex, Integer } from '../../integer.ts';
import { cost, mapCost, type Meter } from '../../exec/meter.ts';
import { isNil, readField, typed, type TypedValue } from '../../typed-value.ts';
import { elementType, kindOf, rawEntries, typeNameOf, typeOf, underlying } from '../../value-kind.ts';
import { elementsOf } from './elements.ts';
import type { StructType } from '../../go-type.ts';

/** Go's reflect.DeepEqual: reports whether types and values are equal at all levels. */
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
  const readBoth = (read: (value: TypedValue) => unknown): boolean =>
    deepEqual(meter, read(left as TypedValue), read(right as TypedValue), depth);
  switch (kindOf(left)) {
    case 'slice': {
      const [a, b] = [elementsOf(left) as unknown[], elementsOf(right) as unknown[]];
      return a.length === b.length && a.every((element, index) => deepEqual(meter, element, b[index], depth));
    }
    case 'map':
      return equalMaps(meter, left, right, depth);
    case 'struct':
      return (typeOf(left) as StructType).fields.every((field) => readBoth((struct) => readField(struct, field)));
    case 'ptr':
      return readBoth((pointer) => typed(elementType(pointer), pointer.raw));
    default:
      return readBoth(underlying);
  }
}

function equalMaps(meter: Meter, left: object, right: object, depth: number): boolean {
  const type = elementType(left);
  const [a, b] = [rawEntries(left), rawEntries(right)];
  meter.spend(mapCost(a) + mapCost(b));
  const keys = Object.keys(a);
  const equalAt = (key: string): boolean => deepEqual(meter, typed(type, a[key]), typed(type, b[key]), depth);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalAt(key));
}
