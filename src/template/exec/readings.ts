import type { Reading } from './execution.ts';
import { findMethod } from './field-access.ts';
import { Integer } from '../integer.ts';
import { fieldsByName, property, readField, typed, TypedValue } from '../typed-value.ts';
import { isPlainMap, rawEntries } from '../value-kind.ts';

/** The result for a part that is missing or may have changed in place; never counts as equal. */
export const unreadable: unique symbol = Symbol('unreadable');

/** The slot of the reading that stands for more data than can be compared. */
export const wholeData = 0;
/** The slot of the reading for the type of the data, which all other readings depend on. */
export const dataType = 1;

/** The parts of the data that a template reads by name, collected by the compiler. */
export class Readings {
  readonly list: Reading[] = [
    () => unreadable,
    (data) => (data instanceof TypedValue ? data.type : isPlainMap(data) || unreadable),
  ];
  /** The variables that are set after their declaration. */
  readonly assigned = new Set<string>();
  /** Whether a function may change the data, which makes earlier readings unusable. */
  changesData = false;
  readonly #stableFields: ReadonlySet<string>;
  readonly #slots = new Map<string, number>();

  /** @param stableFields as in TemplateOptions */
  constructor(stableFields: readonly string[]) {
    this.#stableFields = new Set(stableFields);
  }

  /** Returns the slot of the whole field if the field is stable, else of the scalar at the path. */
  field(path: readonly string[]): number {
    const [first = ''] = path;
    return this.#stableFields.has(first)
      ? this.#slot(first, (data) => plainOf(valueAt(data, [first])))
      : this.#slot(path, (data) => scalarOf(valueAt(data, path)));
  }

  /**
   * Returns the slot of the scalar under a key of a map; `undefined` in a stable field.
   * @param path the fields that lead to the value that contains the map
   * @param below the JSON members from that value to the map
   */
  entry(path: readonly string[], below: readonly string[], key: string): number | undefined {
    if (this.#stableFields.has(path[0] ?? '')) return undefined;
    // All keys share one reading of the entries.
    const map = this.#slot([path, below], (data) => {
      const container = followPointer(valueAt(data, path));
      if (!(container instanceof TypedValue) && !isPlainMap(container)) return unreadable;
      return below.reduce<unknown>(property, rawEntries(container));
    });
    return this.#slot([map, key], (_data, others) => {
      const entries = others.reading(map);
      return entries === unreadable ? unreadable : scalarOf(property(entries, key));
    });
  }

  #slot(key: unknown, reading: Reading): number {
    const text = JSON.stringify(key);
    const known = this.#slots.get(text);
    if (known !== undefined) return known;
    const slot = this.list.push(reading) - 1;
    this.#slots.set(text, slot);
    return slot;
  }
}

/** Returns the value at a path of fields, if neither a method nor an error is involved. */
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

/** Returns a plain value that differs for different values of one type. */
function plainOf(value: unknown): unknown {
  if (value instanceof TypedValue) return value.raw;
  return value instanceof Integer ? value.value : value;
}
