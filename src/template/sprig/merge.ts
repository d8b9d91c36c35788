import { cost, mapCost } from '../meter.ts';
import type { Meter } from '../meter.ts';
import { isPlainMap, isTrue } from '../value-kind.ts';
import { setEntry } from './elements.ts';

/**
 * mergo's Merge on maps: fills what is missing or empty in `target`, maps recursively; with `overwrite` the source's values win.
 */
export function mergeMaps(
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
