import { assign } from './assign.ts';
import { byteLength, sliceBytes, toBytes } from '../go-string.ts';
import { typeName, type GoType, type MapType } from '../go-type.ts';
import { Integer } from '../integer.ts';
import type { Meter } from './meter.ts';
import { property, typed, TypedValue } from '../typed-value.ts';
import {
  countEntries,
  elementType,
  kindOf,
  rawElements,
  rawEntries,
  typeNameOf,
  typeOf,
  underlying,
} from '../value-kind.ts';

/** Follows pointers; returns `undefined` for a nil pointer. */
function indirect(value: unknown): unknown {
  let target = value;
  while (target instanceof TypedValue && target.type.kind === 'pointer') {
    if (target.isNil) return undefined;
    target = typed(target.type.element, target.raw, true);
  }
  return target ?? undefined;
}

/** Converts an index, which must be an integer within bounds. */
function indexArgument(value: unknown, limit: number): number {
  const plain = underlying(value);
  if (plain === undefined || plain === null) throw new Error('cannot index slice/array with nil');
  const number = typeof plain === 'bigint' ? plain : plain instanceof Integer ? plain.value : undefined;
  if (number === undefined) throw new Error(`cannot index slice/array with type ${typeNameOf(value)}`);
  if (number < 0n || number > limit) throw new Error(`index out of range: ${number}`);
  return Number(number);
}

/** The builtin `index`: returns x[1][2] …, or the zero value for a missing map key. */
export function index(meter: Meter, item: unknown, ...indexes: readonly unknown[]): unknown {
  if (item === undefined || item === null) throw new Error('index of untyped nil');
  let current: unknown = item;
  for (const key of indexes) {
    current = indirect(current);
    if (current === undefined) throw new Error('index of nil pointer');
    current = element(meter, current, key);
  }
  return current;
}

function element(meter: Meter, item: unknown, key: unknown): unknown {
  const plain = underlying(item);
  switch (kindOf(plain)) {
    case 'string': {
      meter.spend((plain as string).length);
      const bytes = toBytes(plain as string);
      const position = indexArgument(key, bytes.length);
      if (position === bytes.length) throw new Error('reflect: string index out of range');
      return new Integer('uint8', BigInt(bytes[position] as number));
    }
    case 'slice': {
      const elements = rawElements(plain);
      const position = indexArgument(key, elements.length);
      if (position === elements.length) throw new Error('reflect: slice index out of range');
      return typed(elementType(plain), elements[position], true);
    }
    case 'map': {
      const { key: keyType, element } = typeOf(plain) as MapType;
      return typed(element, property(rawEntries(plain), mapKey(key, keyType)));
    }
    default:
      throw new Error(`can't index item of type ${typeNameOf(item)}`);
  }
}

/** Converts a key of a map to a string. */
function mapKey(key: unknown, type: GoType): string {
  if (key === undefined || key === null) throw new Error(`value is nil; should be of type ${typeName(type)}`);
  assign(key, type, () => new Error(`value has type ${typeNameOf(key)}; should be ${typeName(type)}`));
  return underlying(key) as string;
}

/** The builtin `len`: counts the bytes of a string, or the elements of a list or map. */
export function lengthOf(meter: Meter, value: unknown): number {
  const target = indirect(value);
  if (target === undefined) {
    throw new Error(value === undefined ? 'reflect: call of reflect.Value.Type on zero Value' : 'len of nil pointer');
  }
  const plain = underlying(target);
  if (typeof plain === 'string') return byteLength(plain);
  const kind = kindOf(plain);
  if (kind === 'slice') return rawElements(plain).length;
  if (kind === 'map') return countEntries(rawEntries(plain), meter);
  throw new Error(`len of type ${typeNameOf(target)}`);
}

/** The builtin `slice`: returns x[i:j:k] of a string (in bytes) or a list. */
export function slice(item: unknown, ...indexes: readonly unknown[]): unknown {
  if (item === undefined || item === null) throw new Error('slice of untyped nil');
  const target = indirect(item);
  if (target === undefined) throw new Error('slice of nil pointer');
  if (indexes.length > 3) throw new Error(`too many slice indexes: ${indexes.length}`);
  const plain = underlying(target);
  if (typeof plain === 'string') {
    if (indexes.length === 3) throw new Error('cannot 3-index slice a string');
    const [from, to] = bounds(indexes, byteLength(plain));
    const part = sliceBytes(plain, from, to);
    return target instanceof TypedValue ? new TypedValue(target.type, part) : part;
  }
  if (kindOf(plain) !== 'slice') throw new Error(`can't slice item of type ${typeNameOf(target)}`);
  const elements = rawElements(plain);
  const [from, to] = bounds(indexes, elements.length);
  return typed(typeOf(plain), elements.slice(from, to));
}

/** Returns the bounds i and j of x[i:j:k]; checks k but does not return it. */
function bounds(indexes: readonly unknown[], length: number): [number, number] {
  const positions = indexes.map((value) => indexArgument(value, length));
  const [from = 0, to = length, capacity = length] = positions;
  if (from > to) throw new Error(`invalid slice index: ${from} > ${to}`);
  if (to > capacity) throw new Error(`invalid slice index: ${to} > ${capacity}`);
  return [from, to];
}
