import { goFunction, goVariadic, shallow, meteredFunction, meteredVariadic } from '../go/go-function.ts';
import type { FunctionTable } from '../go/go-function.ts';
import { cost, mapCost, type Meter } from '../../exec/meter.ts';
import { any, anyMap, string, type AnyMap } from '../../exec/parameters.ts';
import { formatValue } from '../go/print-value.ts';
import { isNil, property, typed, TypedValue } from '../../typed-value.ts';
import { isPlainMap, isTrue, kindOf, rawElements, rawEntries, typeNameOf, typeOf } from '../../value-kind.ts';
import { emptyMap, entriesOf, setEntry, stringSlice, withForms } from './elements.ts';

/** Makes a map of alternating keys and values; a last key without a value gets "". */
function dictionary(meter: Meter, ...values: readonly unknown[]): Record<string, unknown> {
  const map = emptyMap();
  meter.spend(cost.container + values.length * cost.entry);
  for (let index = 0; index < values.length; index += 2) {
    map[formatValue(values[index], meter)] = index + 1 < values.length ? values[index + 1] : '';
  }
  return map;
}

/** Returns the entries of a map with these keys, or with all other keys. */
function filtered(map: AnyMap, keys: readonly string[], included: boolean): Record<string, unknown> {
  const selected = new Set(keys);
  const result = emptyMap();
  for (const [key, value] of entriesOf(map)) if (selected.has(key) === included) result[key] = value;
  return result;
}

const mapType = 'map[string]interface {}';

/** dig "a" "b" DEFAULT MAP: returns the value below these keys. */
function dig(...parameters: readonly unknown[]): unknown {
  if (parameters.length < 3) throw new Error('dig needs at least three arguments');
  const keys = parameters.slice(0, -2).map((key) => {
    if (typeof key !== 'string') throw conversion(key, 'string');
    return key;
  });
  let current = parameters.at(-1);
  for (const key of keys) {
    if (typeNameOf(current) !== mapType) throw conversion(current, mapType);
    const value = property(rawEntries(current), key);
    if (value === undefined) return parameters.at(-2);
    current = value;
  }
  return current;
}

function conversion(value: unknown, expected: string): Error {
  const is = value === null ? 'nil' : typeNameOf(value);
  return new Error(`interface conversion: interface {} is ${is}, not ${expected}`);
}

/** Copies a value so that no list or map is shared. */
function deepCopy(meter: Meter, value: unknown): unknown {
  if (value === null) throw new Error('reflect: call of reflect.Value.Type on zero Value');
  return copyOf(value, meter, 0);
}

function copyOf(value: unknown, meter: Meter, depth: number): unknown {
  meter.visit(depth);
  if (isNil(value)) return value;
  switch (kindOf(value)) {
    case 'slice': {
      const elements = rawElements(value);
      meter.spend(cost.container + elements.length * cost.element);
      const copies = elements.map((element) => copyOf(element, meter, depth + 1));
      return typed(typeOf(value), copies);
    }
    case 'map': {
      const entries = rawEntries(value);
      meter.spend(cost.container + mapCost(entries));
      const copy = emptyMap();
      for (const key of Object.keys(entries)) copy[key] = copyOf(entries[key], meter, depth + 1);
      return typed(typeOf(value), copy);
    }
    default:
      return value;
  }
}

function merging(overwrite: boolean): FunctionTable[string] {
  return meteredVariadic(
    [anyMap],
    anyMap,
    (meter, target, ...sources) => {
      // A nil map is replaced by a new one when there is something to merge.
      const result = target instanceof TypedValue && sources.some(isPlainMap) ? emptyMap() : target;
      if (!(result instanceof TypedValue))
        for (const source of sources) mergeMaps(meter, result, rawEntries(source), overwrite);
      return result;
    },
    { changesData: true },
  );
}

const changingEntry = { changesData: true, shallow: true };

export const dictionaryFunctions: FunctionTable = {
  ...withForms('must', {
    deepCopy: meteredFunction([any], deepCopy, shallow),
    merge: merging(false),
    mergeOverwrite: merging(true),
  }),
  dict: meteredVariadic([], any, dictionary, shallow),
  dig: goVariadic([], any, dig, shallow),
  get: goFunction(
    [anyMap, string],
    (map, key) => (Object.hasOwn(rawEntries(map), key) ? rawEntries(map)[key] : ''),
    shallow,
  ),
  hasKey: goFunction([anyMap, string], (map, key) => Object.hasOwn(rawEntries(map), key), shallow),
  // Go returns the keys in random order; this implementation sorts them.
  keys: goVariadic([], anyMap, (...maps) => stringSlice(maps.flatMap((map) => entriesOf(map).map(([key]) => key)))),
  omit: goVariadic([anyMap], string, (map, ...keys) => filtered(map, keys, false)),
  pick: goVariadic([anyMap], string, (map, ...keys) => filtered(map, keys, true)),
  pluck: goVariadic([string], anyMap, (key, ...maps) =>
    maps.map((map) => property(rawEntries(map), key)).filter((value) => value !== undefined),
  ),
  set: meteredFunction(
    [anyMap, string, any],
    (meter, map, key, value) => {
      meter.spend(cost.entry);
      if (map instanceof TypedValue) throw new Error('assignment to entry in nil map');
      setEntry(map, key, value);
      return map;
    },
    changingEntry,
  ),
  unset: goFunction(
    [anyMap, string],
    (map, key) => {
      if (!(map instanceof TypedValue)) Reflect.deleteProperty(map, key);
      return map;
    },
    changingEntry,
  ),
  values: goFunction([anyMap], (map) => entriesOf(map).map(([, value]) => value)),
};

/** mergo's recursive Merge of maps: fills missing or empty entries; sets all if `overwrite`. */
function mergeMaps(
  meter: Meter,
  target: Record<string, unknown>,
  source: Readonly<Record<string, unknown>>,
  overwrite: boolean,
  depth = 0,
): void {
  meter.visit(depth);
  meter.spend(cost.container + mapCost(source));
  for (const key of Object.keys(source)) {
    const value = source[key] ?? null;
    const has = Object.hasOwn(target, key);
    const present = has ? target[key] : undefined;
    if (value === null) {
      if (overwrite) setEntry(target, key, null);
    } else if (isPlainMap(value) && isPlainMap(present)) {
      mergeMaps(meter, present, value, overwrite, depth + 1);
      if (!isTrue(present, meter)) setEntry(target, key, value);
    } else if (overwrite || !has || !isTrue(present, meter)) {
      setEntry(target, key, value);
    }
  }
}
