import type { Execution } from './execution.ts';
import { behaviourOf, typeName } from '../go-type.ts';
import type { GoMethod, GoType, MapType, PointerType, StructType } from '../go-type.ts';
import { fieldsByName, property, structField, typed, TypedValue } from '../typed-value.ts';
import { isPlainMap, rawEntries, typeNameOf } from '../value-kind.ts';

/** A method with its receiver. */
export interface BoundMethod {
  readonly method: GoMethod;
  readonly raw: unknown;
}

/** The method of this name that Go finds on a value, if any. */
export function findMethod(receiver: unknown, name: string): BoundMethod | undefined {
  if (!(receiver instanceof TypedValue)) return undefined;
  const { type } = receiver;
  if (type.kind !== 'pointer') {
    const method = ownMethod(type, name);
    return method === undefined || (method.pointerReceiver === true && !receiver.addressable)
      ? undefined
      : { method, raw: receiver.raw };
  }
  const method = ownMethod(type.element, name);
  return method === undefined ? undefined : { method, raw: receiver.raw };
}

function ownMethod(type: GoType, name: string): GoMethod | undefined {
  const { methods } = behaviourOf(type);
  return methods !== undefined && Object.hasOwn(methods, name) ? methods[name] : undefined;
}

/**
 * Go's `receiver.name` where it is not a method: a map's element or a struct's field.
 *
 * @param fromInterface Whether the receiver was found in a map or list of `interface {}`; only errors tell.
 * @param hasArguments Whether arguments follow, which only methods take.
 */
export function readName(
  execution: Execution,
  receiver: unknown,
  name: string,
  fromInterface: boolean,
  hasArguments: boolean,
): unknown {
  if (isPlainMap(receiver)) {
    refuseArguments(execution, name, hasArguments, 'is not a method but has arguments');
    const value = property(receiver, name);
    return value === undefined ? missing(execution, name, null) : value;
  }
  if (receiver === undefined) {
    if (execution.program.missingKey === 'error') throw execution.error(`nil data; no entry for key "${name}"`);
    return undefined;
  }
  const typeText = fromInterface ? 'interface {}' : typeNameOf(receiver);
  if (receiver === null) throw execution.error(`nil pointer evaluating interface {}.${name}`);
  if (receiver instanceof TypedValue) return readTyped(execution, receiver, name, typeText, hasArguments);
  throw execution.error(`can't evaluate field ${name} in type ${typeText}`);
}

function readTyped(
  execution: Execution,
  receiver: TypedValue,
  name: string,
  typeText: string,
  hasArguments: boolean,
): unknown {
  const { type } = receiver;
  if (type.kind === 'pointer') {
    if (!receiver.isNil) {
      const target = typed(type.element, receiver.raw, true);
      if (target instanceof TypedValue) return readTyped(execution, target, name, typeText, hasArguments);
      return readName(execution, target, name, false, hasArguments);
    }
    if (hasField(type, name)) throw execution.error(`nil pointer evaluating ${typeText}.${name}`);
  } else if (type.kind === 'struct') {
    const field = structField(receiver as TypedValue & { readonly type: StructType }, name);
    if (field !== undefined) {
      if (/^[^\p{Lu}]/u.test(name)) throw execution.error(`${name} is an unexported field of struct type ${typeText}`);
      refuseArguments(execution, name, hasArguments, 'has arguments but cannot be invoked as function');
      return field;
    }
  } else if (type.kind === 'map' && typeName(type.key) === 'string') {
    refuseArguments(execution, name, hasArguments, 'is not a method but has arguments');
    return readMap(execution, receiver, type, name);
  }
  throw execution.error(`can't evaluate field ${name} in type ${typeText}`);
}

/** Whether reading the name through a nil pointer is "nil pointer evaluating" rather than "can't evaluate". */
function hasField(type: PointerType, name: string): boolean {
  return type.element.kind !== 'struct' || fieldsByName(type.element).has(name);
}

function readMap(execution: Execution, receiver: TypedValue, type: MapType, name: string): unknown {
  const entries = rawEntries(receiver);
  return Object.hasOwn(entries, name)
    ? typed(type.element, entries[name])
    : missing(execution, name, typed(type.element, undefined));
}

/** What an absent key of a map is, by the template's missingkey option. */
function missing(execution: Execution, name: string, zero: unknown): unknown {
  switch (execution.program.missingKey) {
    case 'default':
      return undefined;
    case 'zero':
      return zero;
    case 'error':
      throw execution.error(`map has no entry for key "${name}"`);
  }
}

function refuseArguments(execution: Execution, name: string, hasArguments: boolean, complaint: string): void {
  if (hasArguments) throw execution.error(`${name} ${complaint}`);
}
