import { sortedKeys } from '../go-string.ts';
import { cost, mapCost } from '../meter.ts';
import type { Meter } from '../meter.ts';
import { isPlainMap } from '../value-kind.ts';

/** A value without its nils; maps and lists that are empty then are nil themselves. */
export function omitNil(meter: Meter, value: unknown): unknown {
  return withoutNil(value, meter, 0);
}

function withoutNil(value: unknown, meter: Meter, depth: number): unknown {
  meter.visit(depth);
  if (Array.isArray(value)) {
    const kept = value.map((element) => withoutNil(element, meter, depth + 1)).filter((element) => element !== null);
    return kept.length === 0 ? null : kept;
  }
  if (!isPlainMap(value)) return value ?? null;
  meter.spend(cost.container + mapCost(value));
  const kept = sortedKeys(value)
    .map((key): [string, unknown] => [key, withoutNil(value[key], meter, depth + 1)])
    .filter(([, element]) => element !== null);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}
