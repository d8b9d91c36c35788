import { anyMapType, anySliceType, boolType, float64Type, intType, stringType, typeName } from './go-type.ts';
import type { GoType, MapType, PointerType, ScalarType, SliceType } from './go-type.ts';
import { GoFunction } from './functions/go/go-function.ts';
import { Complex, Integer } from './integer.ts';
import type { Meter } from './exec/meter.ts';
import { scalar, TypedValue } from './typed-value.ts';

/** Go's reflect.Kind by name; `interface` is a nil interface, `invalid` a missing value. */
export type Kind =
  'invalid' | 'interface' | 'complex128' | 'slice' | 'map' | 'ptr' | 'struct' | 'func' | ScalarType['kind'];

/** Reports whether a value is a map[string]interface {}: a plain object. */
export function isPlainMap(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function kindOf(value: unknown): Kind {
  if (value === undefined) return 'invalid';
  if (value === null) return 'interface';
  if (value instanceof GoFunction) return 'func';
  if (value instanceof Complex) return 'complex128';
  const { kind } = typeOf(value);
  return kind === 'pointer' ? 'ptr' : (kind as Kind);
}

const complexType: GoType = { kind: 'struct', name: 'complex128', fields: [] };

/** Returns the Go type of a value that is neither missing nor a nil interface. */
export function typeOf(value: unknown): GoType {
  switch (typeof value) {
    case 'string':
      return stringType;
    case 'number':
      return float64Type;
    case 'boolean':
      return boolType;
    case 'bigint':
      return intType;
    default:
      if (value instanceof TypedValue) return value.type;
      if (value instanceof Integer) return { kind: value.kind };
      if (value instanceof Complex) return complexType;
      return Array.isArray(value) ? anySliceType : anyMapType;
  }
}

/** Returns the type of the elements of a slice, map or pointer. */
export function elementType(value: unknown): GoType {
  return (typeOf(value) as SliceType | MapType | PointerType).element;
}

/** Returns the Go type of a value as errors print it. */
export function typeNameOf(value: unknown): string {
  if (value === undefined || value === null) return 'interface {}';
  return value instanceof GoFunction ? value.typeName : typeName(typeOf(value));
}

/** Converts a named scalar (`v1.Protocol`) to its primitive; returns other values unchanged. */
export function underlying(value: unknown): unknown {
  if (!(value instanceof TypedValue)) return value;
  switch (value.type.kind) {
    case 'pointer':
    case 'struct':
    case 'slice':
    case 'map':
      return value;
    default:
      return scalar(value.type.kind, value.content);
  }
}

/** Returns the elements of a slice, in JSON form for a TypedValue; none for a nil slice. */
export function rawElements(slice: unknown): readonly unknown[] {
  const raw = slice instanceof TypedValue ? slice.content : slice;
  return Array.isArray(raw) ? (raw as readonly unknown[]) : [];
}

/** Returns the entries of a map, in JSON form for a TypedValue; none for a nil map. */
export function rawEntries(map: unknown): Readonly<Record<string, unknown>> {
  const raw = map instanceof TypedValue ? map.content : map;
  return typeof raw === 'object' && raw !== null ? (raw as Readonly<Record<string, unknown>>) : {};
}

/** Counts the entries of a map. JavaScript must list the entries for this. */
export function countEntries(map: Readonly<Record<string, unknown>>, meter: Meter): number {
  const { length } = Object.keys(map);
  meter.spend(length * 4);
  return length;
}

/** Reports whether Go's `if` treats a value as true: it is not the zero value of its kind. */
export function isTrue(value: unknown, meter: Meter): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'bigint':
      return value !== 0n;
  }
  if (value instanceof Integer) return value.value !== 0n;
  if (value instanceof Complex) return value.real !== 0 || value.imaginary !== 0;
  switch (kindOf(value)) {
    case 'invalid':
    case 'interface':
      return false;
    case 'slice':
      return rawElements(value).length > 0;
    case 'map':
      return countEntries(rawEntries(value), meter) > 0;
    case 'ptr':
      return !(value as TypedValue).isNil;
    case 'struct':
    case 'func':
      return true;
    default:
      return isTrue(underlying(value), meter);
  }
}
