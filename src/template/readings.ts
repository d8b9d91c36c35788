import { findMethod } from './field-access.ts';
import { Integer } from './integer.ts';
import { fieldsByName, property, readField, typed, TypedValue } from './typed-value.ts';
import { isPlainMap, rawEntries } from './value-kind.ts';

/** A part of a template's data, as something that one execution can compare with another. Pure: it depends on the data alone. */
export type Reading = (data: unknown, others: OtherReadings) => unknown;

/** What the readings at other places have given for the same data. */
export interface OtherReadings {
  reading(place: number): unknown;
}

/** What a reading gives that must not be taken for equal to any other: the part is not there, or may have changed without being another. */
export const unreadable: unique symbol = Symbol('unreadable');

/** The type of the data: what is read below means something else in another type. */
export const dataType: Reading = (data) => (data instanceof TypedValue ? data.type : isPlainMap(data) || unreadable);

/** A field of the data that is only ever replaced, never changed: the same object means the same content. */
export function stableField(name: string): Reading {
  return (data) => plainOf(valueAt(data, [name]));
}

/** A string, number or boolean at a path of fields. */
export function scalarAt(path: readonly string[]): Reading {
  return (data) => scalarOf(valueAt(data, path));
}

/**
 * The entries of a map at a path of fields, for {@link entryOf}: what they are in one execution says nothing about another.
 * @param below The JSON members between what the path leads to and the map.
 */
export function mapAt(path: readonly string[], below: readonly string[]): Reading {
  return (data) => {
    const container = followPointer(valueAt(data, path));
    if (!(container instanceof TypedValue) && !isPlainMap(container)) return unreadable;
    let entries: unknown = rawEntries(container);
    for (const member of below) entries = property(entries, member);
    return entries;
  };
}

/** The scalar under a key of the map that the reading at another place gives. */
export function entryOf(map: number, key: string): Reading {
  return (_data, others) => {
    const entries = others.reading(map);
    return entries === unreadable ? unreadable : scalarOf(property(entries, key));
  };
}

/** What a template finds at a path of fields, if it takes neither a method nor an error to find it. */
function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const name of path) {
    if (findMethod(value, name) !== undefined) return unreadable;
    const target = followPointer(value);
    if (target instanceof TypedValue) {
      const field = target.type.kind === 'struct' ? fieldsByName(target.type).get(name) : undefined;
      if (field === undefined) return unreadable;
      value = readField(target, field);
    } else if (isPlainMap(target) && Object.hasOwn(target, name)) {
      value = target[name];
    } else {
      return unreadable;
    }
  }
  return value;
}

function followPointer(value: unknown): unknown {
  if (!(value instanceof TypedValue) || value.type.kind !== 'pointer') return value;
  return value.isNil ? unreadable : typed(value.type.element, value.raw, true);
}

function scalarOf(value: unknown): unknown {
  const plain = plainOf(value);
  return typeof plain === 'object' && plain !== null ? unreadable : plain;
}

/** What tells two values of one type apart. */
function plainOf(value: unknown): unknown {
  if (value instanceof TypedValue) return value.raw;
  return value instanceof Integer ? value.value : value;
}
