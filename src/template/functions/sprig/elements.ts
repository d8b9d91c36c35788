import { anySliceType, stringMapType, stringSliceType } from '../../go-type.ts';
import type { GoType } from '../../go-type.ts';
import { sortedKeys } from '../../go-string.ts';
import { typed, TypedValue } from '../../typed-value.ts';
import { kindOf, rawElements, rawEntries, typeOf } from '../../value-kind.ts';

/** Go's reflect.Kind as sprig names it: nil is `invalid`. */
export function kindName(value: unknown): string {
  const kind = kindOf(value);
  return kind === 'interface' ? 'invalid' : kind;
}

/** The elements of a list of any type as template values; `undefined` when the value is no list. */
export function elementsOf(value: unknown): readonly unknown[] | undefined {
  if (kindOf(value) !== 'slice') return undefined;
  const { element } = typeOf(value) as GoType & { readonly element: GoType };
  const raw = rawElements(value);
  return element.kind === 'interface' ? raw : raw.map((item) => typed(element, item));
}

/** The elements of what sprig demands to be a list; nil crashes sprig, other values are refused by its message. */
export function requireElements(value: unknown, action: string): readonly unknown[] {
  const elements = elementsOf(value);
  if (elements !== undefined) return elements;
  if (value === null) throw new Error('runtime error: invalid memory address or nil pointer dereference');
  throw new Error(`${action} ${kindName(value)}`);
}

/** A []interface {} that is nil where Go's function returns nil for an empty list. */
export function nilSlice(): TypedValue {
  return new TypedValue(anySliceType, null);
}

/** A []string. */
export function stringSlice(values: readonly string[]): TypedValue {
  return new TypedValue(stringSliceType, values);
}

/** A map[string]string. */
export function stringMapOf(entries: Readonly<Record<string, string>>): TypedValue {
  return new TypedValue(stringMapType, entries);
}

/** An empty map[string]interface {}: without a prototype, so that any key is only a key. */
export function emptyMap(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

/** A map[string]interface {} that can be changed; sprig crashes on the nil map. */
export function writableMap(map: unknown): Record<string, unknown> {
  if (map instanceof TypedValue) throw new Error('assignment to entry in nil map');
  return map as Record<string, unknown>;
}

/** The entries of a map[string]interface {} in key order. */
export function entriesOf(map: unknown): [string, unknown][] {
  const entries = rawEntries(map);
  return sortedKeys(entries).map((key) => [key, entries[key] ?? null]);
}

/** Sets an entry of a map, whatever its key: `__proto__` is an ordinary one. */
export function setEntry(map: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true });
}
