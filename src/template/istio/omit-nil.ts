import { sortedKeys } from '../go-string.ts';
import { isPlainMap } from '../value-kind.ts';

/** A value without its nils; maps and lists that are empty then are nil themselves. */
export function omitNil(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.map(omitNil).filter((element) => element !== null);
    return kept.length === 0 ? null : kept;
  }
  if (!isPlainMap(value)) return value ?? null;
  const kept = sortedKeys(value)
    .map((key): [string, unknown] => [key, omitNil(value[key])])
    .filter(([, element]) => element !== null);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}
