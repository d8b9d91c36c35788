import type { Execution } from './execution.ts';
import { sortedKeys } from '../go-string.ts';
import { formatValue } from '../functions/go/print-value.ts';
import { int, Integer } from '../integer.ts';
import { mapCost } from './meter.ts';
import { typed, TypedValue } from '../typed-value.ts';
import type { MapType, SliceType } from '../go-type.ts';
import { isPlainMap, rawEntries, rawElements, underlying } from '../value-kind.ts';

/** One iteration; false ends the loop. */
type Iteration = (index: unknown, element: unknown) => boolean;

/**
 * Calls `each` for every element as {{range}} does: lists in order, maps by sorted key, integers from 0. Nothing and nil have no elements.
 *
 * @param variables How many variables the range sets; two are too many for an integer.
 * @returns Whether there was any element.
 * @throws TemplateError when the value cannot be iterated over.
 */
export function iterate(execution: Execution, value: unknown, variables: number, each: Iteration): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) return iterateList(value, each);
  if (isPlainMap(value)) return iterateMap(execution, value, each);
  if (value instanceof TypedValue) return iterateTyped(execution, value, variables, each);
  if (typeof value === 'bigint' || value instanceof Integer) return iterateInteger(execution, value, variables, each);
  throw execution.error(`range can't iterate over ${formatValue(value, execution.meter)}`);
}

function iterateList(list: readonly unknown[], each: Iteration): boolean {
  for (let index = 0; index < list.length; index += 1) {
    if (!each(int(index), list[index] ?? null)) return true;
  }
  return list.length > 0;
}

function iterateMap(execution: Execution, map: Readonly<Record<string, unknown>>, each: Iteration): boolean {
  execution.meter.spend(mapCost(map));
  const keys = sortedKeys(map);
  for (const key of keys) {
    if (!each(key, map[key] ?? null)) return true;
  }
  return keys.length > 0;
}

function iterateTyped(execution: Execution, value: TypedValue, variables: number, each: Iteration): boolean {
  switch (value.type.kind) {
    case 'pointer':
      if (value.isNil) throw execution.error(`range can't iterate over ${formatValue(value, execution.meter)}`);
      return iterate(execution, typed(value.type.element, value.raw, true), variables, each);
    case 'slice': {
      const { element } = value.type satisfies SliceType;
      return iterateElements(rawElements(value), (raw) => typed(element, raw, true), each);
    }
    case 'map': {
      const { key, element } = value.type satisfies MapType;
      return iterateMap(execution, rawEntries(value), (name, raw) => each(typed(key, name), typed(element, raw)));
    }
    case 'struct':
      throw execution.error(`range can't iterate over ${formatValue(value, execution.meter)}`);
    default:
      return iterate(execution, underlying(value), variables, each);
  }
}

function iterateElements(list: readonly unknown[], wrap: (raw: unknown) => unknown, each: Iteration): boolean {
  return iterateList(list, (index, raw) => each(index, wrap(raw)));
}

function iterateInteger(execution: Execution, value: bigint | Integer, variables: number, each: Iteration): boolean {
  if (variables > 1)
    throw execution.error(`can't use ${formatValue(value, execution.meter)} to iterate over more than one variable`);
  const end = typeof value === 'bigint' ? value : value.value;
  for (let index = 0n; index < end; index += 1n) {
    if (!each(undefined, typeof value === 'bigint' ? index : new Integer(value.kind, index))) return true;
  }
  return end > 0n;
}
