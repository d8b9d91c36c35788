import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';

/**
 * What became of a typed pod, carried over to the pod it was read from: members that the types do not know, managedFields and whatever else
 * reading has dropped stay, and defaults that reading has added and nobody has touched stay out.
 * @param raw As it arrived.
 * @param read `raw` as it was read.
 * @param result `read` after changes; what it shares with `read` is unchanged.
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

/** An item is the one it was read from, or the one of its name. Reading never changes how many items there are. */
function carryItems(raw: readonly unknown[], read: readonly unknown[], result: readonly unknown[]): unknown[] {
  const places = new Map<unknown, number>();
  const placesByName = new Map<string, number>();
  for (const [index, item] of read.entries()) {
    if (!places.has(item)) places.set(item, index);
    const name = nameOf(item);
    if (name !== undefined && !placesByName.has(name)) placesByName.set(name, index);
  }
  return result.map((item) => {
    const name = nameOf(item);
    const index = places.get(item) ?? (name === undefined ? undefined : placesByName.get(name));
    return index === undefined ? item : carryOver(raw[index], read[index], item);
  });
}

function nameOf(item: unknown): string | undefined {
  return isJsonObject(item) && typeof item.name === 'string' ? item.name : undefined;
}
