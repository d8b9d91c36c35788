import type { Execution } from './execution.ts';
import { typeName, type GoType, type MapType, type SliceType } from '../go-type.ts';
import { typed, TypedValue } from '../typed-value.ts';
import { typeNameOf, typeOf } from '../value-kind.ts';
import { GoFunction } from '../functions/go/go-function.ts';

/** Reports whether Go allows nil as a value of the type. */
export function canBeNil(type: GoType): boolean {
  return ['interface', 'reflected', 'pointer', 'slice', 'map'].includes(type.kind);
}

/** Returns Go's nil as a value of a type that allows nil. */
export function nilOf(type: GoType): unknown {
  return type.kind === 'reflected' ? undefined : typed(type, null);
}

/** Reports whether Go allows the assignment: equal types, or equal shapes and an unnamed type. */
export function isAssignable(from: GoType, to: GoType): boolean {
  if (to.kind === 'interface') return to.accepts?.(from) ?? true;
  if (typeName(from) === typeName(to)) return true;
  if ((from.kind !== 'slice' && from.kind !== 'map') || (to.kind !== 'slice' && to.kind !== 'map')) return false;
  return (from.name === undefined || to.name === undefined) && typeName(unnamed(from)) === typeName(unnamed(to));
}

function unnamed(type: SliceType | MapType): GoType {
  if (type.kind === 'slice') return { kind: 'slice', element: type.element };
  return { kind: 'map', key: type.key, element: type.element };
}

/**
 * Converts a value to a parameter's type as text/template does. Accepts nil if the type allows it.
 * Dereferences the value or takes its address once if that makes it assignable.
 * @param fail makes the error to throw
 */
export function assign(value: unknown, type: GoType, fail: (reason: string) => Error): unknown {
  if (type.kind === 'reflected') return value;
  if (value === undefined) {
    if (canBeNil(type)) return nilOf(type);
    throw fail(`invalid value; expected ${typeName(type)}`);
  }
  if (type.kind === 'interface' && type.accepts === undefined) return unaddressed(value);
  if (value !== null && !(value instanceof GoFunction)) {
    const from = typeOf(value);
    if (isAssignable(from, type)) return value;
    if (value instanceof TypedValue) {
      if (from.kind === 'pointer' && isAssignable(from.element, type)) {
        if (value.isNil) throw fail(`dereference of nil pointer of type ${typeName(from)}`);
        return typed(from.element, value.raw, true);
      }
      if (value.addressable && type.kind === 'pointer' && isAssignable(type.element, from))
        return new TypedValue(type, value.raw);
    }
  }
  throw fail(`wrong type for value; expected ${typeName(type)}; got ${typeNameOf(value)}`);
}

/** Copies a value into an `interface {}`, so that its address cannot be taken. */
function unaddressed(value: unknown): unknown {
  return value instanceof TypedValue && value.addressable ? new TypedValue(value.type, value.raw) : value;
}

/** Does the same as {@link assign}, but checks the frequent cases first. */
export function assignQuickly(execution: Execution, value: unknown, type: GoType): unknown {
  if (type.kind === 'reflected') return value;
  if (type.kind === 'interface' && type.accepts === undefined)
    return typeof value === 'object' ? unaddressed(value) : (value ?? null);
  return typeof value === type.kind ? value : assign(value, type, (reason) => execution.error(reason));
}
