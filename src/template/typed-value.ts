import { int, Integer } from './integer.ts';
import type { GoField, GoType, ScalarType, StructType } from './go-type.ts';

/**
 * Plain JSON seen as a Go struct, pointer, named scalar, or a slice or map other than `[]interface
 * {}` and `map[string]interface {}`. The JSON is not copied: fields are wrapped when a template
 * reads them.
 */
export class TypedValue {
  readonly type: Exclude<GoType, { kind: 'interface' | 'reflected' }>;
  /** The JSON form; `null` is Go's nil for pointers, maps and slices. */
  readonly raw: unknown;
  /** Whether Go can take the address (as in a pointer or slice), for methods on `*T`. */
  readonly addressable: boolean;

  constructor(type: TypedValue['type'], raw: unknown, addressable = false) {
    this.type = type;
    this.raw = raw;
    this.addressable = addressable;
  }

  /** The form that the type's fields or kind describe: `raw`, decoded if necessary. */
  get content(): unknown {
    const { decode } = this.type;
    return decode === undefined ? this.raw : decode(this.raw);
  }

  /** Whether this is a nil pointer, map or slice. */
  get isNil(): boolean {
    const { kind } = this.type;
    return this.raw === null && (kind === 'pointer' || kind === 'map' || kind === 'slice');
  }
}

/** Reports whether a value is a nil interface, pointer, map or slice. */
export function isNil(value: unknown): boolean {
  return value === null || (value instanceof TypedValue && value.isNil);
}

/**
 * Makes a template value of `type` from plain JSON. `undefined` and `null` give Go's zero value.
 * Unnamed scalars become primitives; `[]interface {}` and `map[string]interface {}` stay plain.
 */
export function typed(type: GoType, raw: unknown, addressable = false): unknown {
  switch (type.kind) {
    case 'interface':
    case 'reflected':
      return raw ?? null;
    case 'pointer':
      return new TypedValue(type, raw ?? null);
    case 'struct':
      return new TypedValue(type, raw ?? undefined, addressable);
    case 'slice':
    case 'map':
      if (raw !== null && raw !== undefined && type.name === undefined && type.element.kind === 'interface') return raw;
      return new TypedValue(type, raw ?? null, addressable);
    default:
      if (type.name !== undefined) return new TypedValue(type, raw, addressable);
      return scalar(type.kind, type.decode === undefined ? raw : type.decode(raw));
  }
}

/** Makes a primitive; nil becomes zero. Integers may be numbers, bigints or decimal strings. */
export function scalar(kind: ScalarType['kind'], raw: unknown): unknown {
  switch (kind) {
    case 'string':
      return typeof raw === 'string' ? raw : '';
    case 'bool':
      return raw === true;
    case 'float64':
      return typeof raw === 'number' ? raw : 0;
    case 'int':
      return integerValue(raw);
    default:
      return new Integer(kind, integerValue(raw));
  }
}

function integerValue(raw: unknown): bigint {
  if (typeof raw === 'number') return int(raw);
  if (typeof raw === 'bigint') return raw;
  return typeof raw === 'string' ? BigInt(raw) : 0n;
}

const layouts = new WeakMap<StructType, ReadonlyMap<string, GoField>>();

/** Returns a struct's fields by Go name, including embedded structs' fields (own fields win). */
export function fieldsByName(type: StructType): ReadonlyMap<string, GoField> {
  const known = layouts.get(type);
  if (known !== undefined) return known;
  const layout = new Map<string, GoField>();
  for (const field of type.fields) {
    if (field.inline !== true || field.type.kind !== 'struct') continue;
    for (const [name, promoted] of fieldsByName(field.type)) layout.set(name, promoted);
  }
  for (const field of type.fields) layout.set(field.name, field);
  layouts.set(type, layout);
  return layout;
}

/** Returns the value of a struct's own or promoted field. */
export function readField(struct: TypedValue, field: GoField): unknown {
  const { content, addressable } = struct;
  return typed(field.type, field.inline === true ? content : property(content, field.json), addressable);
}

/** Returns an own property of plain JSON; `undefined` if `value` is not an object or lacks it. */
export function property(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
