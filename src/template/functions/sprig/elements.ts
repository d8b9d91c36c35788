import { anySliceType, stringMapType, stringSliceType } from '../../go-type.ts';
import type { FunctionTable } from '../go/go-function.ts';
import { formatValue } from '../go/print-value.ts';
import { sortedKeys } from '../../go-string.ts';
import type { Meter } from '../../exec/meter.ts';
import { typed, TypedValue } from '../../typed-value.ts';
import { elementType, kindOf, rawElements, rawEntries } from '../../value-kind.ts';

/** Also adds each function under a prefixed name: `first` and `mustFirst` fail in the same way. */
export function withForms(prefix: 'must' | 'os', functions: FunctionTable): FunctionTable {
  const forms = Object.entries(functions).map(
    ([name, one]) => [`${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`, one] as const,
  );
  return { ...functions, ...Object.fromEntries(forms) };
}

/** Returns Go's reflect.Kind as sprig names it: nil is `invalid`. */
export function kindName(value: unknown): string {
  const kind = kindOf(value);
  return kind === 'interface' ? 'invalid' : kind;
}

/** Returns the elements of a list of any type as template values; `undefined` for other values. */
export function elementsOf(value: unknown): readonly unknown[] | undefined {
  if (kindOf(value) !== 'slice') return undefined;
  const type = elementType(value);
  const raw = rawElements(value);
  return type.kind === 'interface' ? raw : raw.map((item) => typed(type, item));
}

/** sprig's strslice: returns a list's non-nil elements, or a single value, as strings. */
export function stringValues(value: unknown, meter: Meter): string[] {
  const elements = elementsOf(value) ?? [value];
  return elements
    .filter((element) => element !== null)
    .map((element) => {
      const text = formatValue(element, meter);
      meter.spend(text.length);
      return text;
    });
}

/** Returns the elements of a list. Throws sprig's message, or Go's nil error for nil. */
export function requireElements(value: unknown, action: string): readonly unknown[] {
  const elements = elementsOf(value);
  if (elements !== undefined) return elements;
  if (value === null) throw new Error('runtime error: invalid memory address or nil pointer dereference');
  throw new Error(`${action} ${kindName(value)}`);
}

/** Returns a nil []interface {}, for Go functions that return nil for an empty list. */
export function nilSlice(): TypedValue {
  return new TypedValue(anySliceType, null);
}

export function stringSlice(values: readonly string[]): TypedValue {
  return new TypedValue(stringSliceType, values);
}

export function stringMapOf(entries: Readonly<Record<string, string>>): TypedValue {
  return new TypedValue(stringMapType, entries);
}

/** Makes an empty map[string]interface {}, without a prototype whose names could be keys. */
export function emptyMap(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

/** Returns the entries of a map[string]interface {} in key order. */
export function entriesOf(map: unknown): [string, unknown][] {
  const entries = rawEntries(map);
  return sortedKeys(entries).map((key) => [key, entries[key] ?? null]);
}

/** Sets an entry of a map; also handles the key `__proto__`. */
export function setEntry(map: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true });
}
