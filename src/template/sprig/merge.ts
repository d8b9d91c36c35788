import { isPlainMap, isTrue } from '../value-kind.ts';
import { setEntry } from './elements.ts';

/**
 * mergo's Merge on maps: fills what is missing or empty in `target`, maps recursively; with `overwrite` the source's values win.
 */
export function mergeMaps(
  target: Record<string, unknown>,
  source: Readonly<Record<string, unknown>>,
  overwrite: boolean,
): void {
  for (const key of Object.keys(source)) {
    const value = source[key] ?? null;
    const has = Object.hasOwn(target, key);
    const present = has ? target[key] : undefined;
    if (value === null) {
      if (overwrite) setEntry(target, key, null);
    } else if (isPlainMap(value) && isPlainMap(present)) {
      mergeMaps(present, value, overwrite);
      if (!isTrue(present)) setEntry(target, key, value);
    } else if (overwrite || !has || !isTrue(present)) {
      setEntry(target, key, value);
    }
  }
}
