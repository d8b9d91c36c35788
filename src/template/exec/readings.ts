import type { Reading } from './execution.ts';
import { findMethod } from './field-access.ts';
import { Integer } from '../integer.ts';
import { fieldsByName, property, readField, typed, TypedValue } from '../typed-value.ts';
import { isPlainMap, rawEntries } from '../value-kind.ts';

/** What must not be taken for equal to anything: the part is not there, or may have changed without being another. */
export const unreadable: unique symbol = Symbol('unreadable');

/** The place of the reading that stands for more of the data than can be compared. */
export const wholeData = 0;
/** The place of the type of the data: what other readings say means something else in another type. */
export const dataType = 1;

/** The parts of the data that a template reads by name, as they are found while it is compiled. */
export class Readings {
  readonly list: Reading[] = [
    () => unreadable,
    (data) => (data instanceof TypedValue ? data.type : isPlainMap(data) || unreadable),
  ];
  /** The variables that are set after they have been declared. */
  readonly assigned = new Set<string>();
  /** Whether a function may change the data: then nothing that has been read before can be relied on. */
  changesData = false;
  readonly #stableFields: ReadonlySet<string>;
  readonly #places = new Map<string, number>();

  /** @param stableFields See TemplateOptions. */
  constructor(stableFields: readonly string[]) {
    this.#stableFields = new Set(stableFields);
  }

  /** The place of a field of the data: of the whole field if it is stable, otherwise of the scalar at the path. */
  field(path: readonly string[]): number {
    const [first = ''] = path;
    return this.#stableFields.has(first)
      ? this.#place(first, (data) => plainOf(valueAt(data, [first])))
      : this.#place(path, (data) => scalarOf(valueAt(data, path)));
  }

  /**
   * The place of the scalar under a key of the map at a path of fields; `undefined` where the field is stable.
   * @param below The JSON members between what the path leads to and the map.
   */
  entry(path: readonly string[], below: readonly string[], key: string): number | undefined {
    if (this.#stableFields.has(path[0] ?? '')) return undefined;
    // The entries are read once for all keys.
    const map = this.#place([path, below], (data) => {
      const container = followPointer(valueAt(data, path));
      if (!(container instanceof TypedValue) && !isPlainMap(container)) return unreadable;
      return below.reduce<unknown>(property, rawEntries(container));
    });
    return this.#place([map, key], (_data, others) => {
      const entries = others.reading(map);
      return entries === unreadable ? unreadable : scalarOf(property(entries, key));
    });
  }

  #place(key: unknown, reading: Reading): number {
    const text = JSON.stringify(key);
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const place = this.list.push(reading) - 1;
    this.#places.set(text, place);
    return place;
  }
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
