import type { Execution } from './execution.ts';
import { typeName, type GoMethod } from '../go-type.ts';
import { fieldsByName, property, readField, typed, TypedValue } from '../typed-value.ts';
import { isPlainMap, rawEntries, typeNameOf } from '../value-kind.ts';

export interface BoundMethod {
  readonly method: GoMethod;
  readonly raw: unknown;
}

/** Returns the method that Go finds on a value; undefined if there is none. */
export function findMethod(receiver: unknown, name: string): BoundMethod | undefined {
  if (!(receiver instanceof TypedValue)) return undefined;
  const { type, raw } = receiver;
  const isPointer = type.kind === 'pointer';
  const { methods } = isPointer ? type.element : type;
  const method = methods !== undefined && Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method === undefined) return undefined;
  return method.pointerReceiver === true && !isPointer && !receiver.addressable ? undefined : { method, raw };
}

/**
 * Reads Go's `receiver.name` if the name is not a method: a map element or a struct field.
 * @param fromInterface whether the receiver comes from an `interface {}`; used only in errors
 * @param hasArguments whether arguments follow, which only methods accept
 */
export function readName(
  execution: Execution,
  receiver: unknown,
  name: string,
  fromInterface: boolean,
  hasArguments: boolean,
): unknown {
  if (isPlainMap(receiver)) {
    if (hasArguments) throw execution.error(`${name} is not a method but has arguments`);
    const value = property(receiver, name);
    return value === undefined ? missing(execution, name, null) : value;
  }
  if (receiver === undefined) {
    if (execution.program.missingKey === 'error') throw execution.error(`nil data; no entry for key "${name}"`);
    return undefined;
  }
  if (receiver === null) throw execution.error(`nil pointer evaluating interface {}.${name}`);
  const typeText = (): string => (fromInterface ? 'interface {}' : typeNameOf(receiver));
  if (receiver instanceof TypedValue) return readTyped(execution, receiver, name, typeText, hasArguments);
  throw execution.error(`can't evaluate field ${name} in type ${typeText()}`);
}

/** @param typeText formats the type for errors; a function, because most reads cause no error */
function readTyped(
  execution: Execution,
  receiver: TypedValue,
  name: string,
  typeText: () => string,
  hasArguments: boolean,
): unknown {
  const { type } = receiver;
  if (type.kind === 'pointer') {
    const { element } = type;
    if (!receiver.isNil) {
      const target = typed(element, receiver.raw, true);
      if (target instanceof TypedValue) return readTyped(execution, target, name, typeText, hasArguments);
      return readName(execution, target, name, false, hasArguments);
    }
    if (element.kind !== 'struct' || fieldsByName(element).has(name))
      throw execution.error(`nil pointer evaluating ${typeText()}.${name}`);
  } else if (type.kind === 'struct') {
    const field = fieldsByName(type).get(name);
    if (field !== undefined) {
      if (!isExported(name)) throw execution.error(`${name} is an unexported field of struct type ${typeText()}`);
      if (hasArguments) throw execution.error(`${name} has arguments but cannot be invoked as function`);
      return readField(receiver, field);
    }
  } else if (type.kind === 'map' && typeName(type.key) === 'string') {
    if (hasArguments) throw execution.error(`${name} is not a method but has arguments`);
    const raw = property(rawEntries(receiver), name);
    const value = typed(type.element, raw);
    return raw === undefined ? missing(execution, name, value) : value;
  }
  throw execution.error(`can't evaluate field ${name} in type ${typeText()}`);
}

/** Go's `token.IsExported`; nearly all field names start with an ASCII letter. */
function isExported(name: string): boolean {
  const first = name.charCodeAt(0);
  return first < 128 ? first >= 65 && first <= 90 : /^\p{Lu}/u.test(name);
}

/** Returns the value of an absent map key, as the template's missingkey option says. */
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
