import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';

/**
 * Applies the changes in a typed pod to the raw pod from which it was parsed. Keeps members that
 * parsing dropped (such as managedFields), and removes unchanged defaults that parsing added.
 * @param raw the pod as received
 * @param read `raw` after parsing
 * @param result `read` after changes; parts shared with `read` are unchanged
 */
export function carryOver(raw: unknown, read: unknown, result: unknown): unknown {
  if (read === result) return raw;
  if (raw === read) return result;
  if (isJsonObject(raw) && isJsonObject(read) && isJsonObject(result)) return carryMembers(raw, read, result);
  if (Array.isArray(raw) && Array.isArray(read) && Array.isArray(result)) return carryItems(raw, read, result);
  return result;
}

function carryMembers(raw: JsonObject, read: JsonObject, result: JsonObject): JsonObject {
  const carried: JsonObject = {};
  for (const name in raw) {
    if (!Object.hasOwn(read, name) && !Object.hasOwn(result, name)) setMember(carried, name, raw[name]);
    else if (Object.hasOwn(result, name)) setMember(carried, name, carryOver(raw[name], read[name], result[name]));
  }
  for (const name in result) {
    if (!Object.hasOwn(raw, name) && result[name] !== read[name]) setMember(carried, name, result[name]);
  }
  return carried;
}

/** Matches items by identity with the parsed item, or else by name. Parsing drops no items. */
function carryItems(raw: readonly unknown[], read: readonly unknown[], result: readonly unknown[]): unknown[] {
  const indexes = new Map<unknown, number>();
  const indexesByName = new Map<string, number>();
  for (const [index, item] of read.entries()) {
    if (!indexes.has(item)) indexes.set(item, index);
    const name = nameOf(item);
    if (name !== undefined && !indexesByName.has(name)) indexesByName.set(name, index);
  }
  return result.map((item) => {
    const name = nameOf(item);
    const index = indexes.get(item) ?? (name === undefined ? undefined : indexesByName.get(name));
    return index === undefined ? item : carryOver(raw[index], read[index], item);
  });
}

function nameOf(item: unknown): string | undefined {
  return isJsonObject(item) && typeof item.name === 'string' ? item.name : undefined;
}
