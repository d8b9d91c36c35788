import type { Execution } from './execution.ts';
import { sortedKeys } from '../go-string.ts';
import { formatValue } from '../functions/go/print-value.ts';
import { int, Integer } from '../integer.ts';
import { mapCost } from './meter.ts';
import { typed, TypedValue } from '../typed-value.ts';
import type { MapType } from '../go-type.ts';
import { elementType, kindOf, rawElements, rawEntries, typeOf, underlying } from '../value-kind.ts';

/** One iteration; returns false to end the loop. */
type Iteration = (index: unknown, element: unknown) => boolean;

/**
 * Calls `each` for every element as {{range}} does: lists in order, maps by sorted key, integers
 * from 0. A missing value has no elements.
 * @param variables the number of variables that the range sets
 * @returns whether there was an element @throws TemplateError for a value that is not iterable
 */
export function iterate(execution: Execution, value: unknown, variables: number, each: Iteration): boolean {
  if (value === undefined) return false;
  const plain = underlying(value);
  if (typeof plain === 'bigint' || plain instanceof Integer) return iterateInteger(execution, plain, variables, each);
  if (plain instanceof TypedValue && plain.type.kind === 'pointer' && !plain.isNil)
    return iterate(execution, typed(plain.type.element, plain.raw, true), variables, each);
  switch (kindOf(plain)) {
    case 'slice':
      return iterateList(plain, each);
    case 'map':
      return iterateMap(execution, plain, each);
    default:
      throw execution.error(`range can't iterate over ${formatValue(plain, execution.meter)}`);
  }
}

function iterateList(list: unknown, each: Iteration): boolean {
  const type = elementType(list);
  const elements = rawElements(list);
  for (let index = 0; index < elements.length; index += 1) {
    if (!each(int(index), typed(type, elements[index], true))) return true;
  }
  return elements.length > 0;
}

function iterateMap(execution: Execution, map: unknown, each: Iteration): boolean {
  const { key: keyType, element } = typeOf(map) as MapType;
  const entries = rawEntries(map);
  execution.meter.spend(mapCost(entries));
  const keys = sortedKeys(entries);
  for (const key of keys) if (!each(typed(keyType, key), typed(element, entries[key]))) return true;
  return keys.length > 0;
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
