import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { PATCH_DIRECTIVE } from './directives.ts';
import { badArgument, badPatchType, formatGo, goTypeName, StrategicMergeError } from './merge-error.ts';
import { kindName, type ListSchema, type PatchSchema } from './patch-schema.ts';

/** How two objects are merged: handed in, since objects hold lists and lists hold objects. */
export type MergeObjects = (original: JsonObject, patch: JsonObject, schema: PatchSchema) => JsonObject;

/** Merges two lists of a field whose strategy is `merge`. Returns the original itself when nothing changes. */
export function mergeList(
  original: readonly unknown[],
  patch: readonly unknown[],
  schema: ListSchema,
  mergeObjects: MergeObjects,
): readonly unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  const objects = objectLists(original, patch);
  const merged =
    objects === undefined
      ? mergeScalars(original, patch, schema)
      : mergeKeyedItems(objects.original, objects.patch, schema, mergeObjects);
  return merged.length === original.length && merged.every((item, index) => item === original[index])
    ? original
    : merged;
}

/** What `$deleteFromPrimitiveList` leaves of a list of scalars. A list of objects is merged instead, as Kubernetes does. */
export function deleteFromList(
  original: readonly unknown[],
  deleted: readonly unknown[],
  schema: ListSchema,
  mergeObjects: MergeObjects,
): readonly unknown[] {
  if (objectLists(original, deleted) !== undefined) return mergeList(original, deleted, schema, mergeObjects);
  const gone = new Set(deleted);
  return original.some((item) => gone.has(item)) ? original.filter((item) => !gone.has(item)) : original;
}

function mergeScalars(original: readonly unknown[], patch: readonly unknown[], schema: ListSchema): readonly unknown[] {
  if (schema.mergeKey !== '') throw badArgument('object', [...original, ...patch][0]);
  const patched = new Set(patch);
  const originalOnly = [...new Set(original)].filter((item) => !patched.has(item));
  return orderElements([...patched], originalOnly, patch, original, (item) => item);
}

function mergeKeyedItems(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  schema: ListSchema,
  mergeObjects: MergeObjects,
): readonly JsonObject[] {
  const { mergeKey } = schema;
  if (mergeKey === '') {
    throw new StrategicMergeError(`cannot merge lists without merge key for ${kindName(schema.items)}`);
  }
  const { kept, patches } = applyItemDirectives(original, patch, mergeKey);
  const together = [...patches, ...kept];
  // Most often nothing that the patch brings is there already.
  const keys = new Set(together.map((item) => item[mergeKey]));
  if (keys.size === together.length && !keys.has(undefined)) return together;
  const merged = [...kept];
  const places = placesByKey(kept, mergeKey);
  for (const item of patches) {
    const key = keyOf(item, mergeKey);
    const place = places.get(key) ?? merged.length;
    const found = merged[place];
    const result = found === undefined ? item : mergeObjects(found, item, schema.items);
    merged[place] = result;
    // A key that is null is deleted by the merge: nothing will be found there again.
    if (Object.hasOwn(result, mergeKey)) places.set(key, place);
    else places.delete(key);
  }
  const patchedKeys = new Set(patches.map((item) => keyOf(item, mergeKey)));
  const patchItems = merged.filter((item) => patchedKeys.has(keyOf(item, mergeKey)));
  const originalOnly = merged.filter((item) => !patchedKeys.has(keyOf(item, mergeKey)));
  return orderElements(patchItems, originalOnly, patches, kept, (item) => item[mergeKey]);
}

/** Where the first item of each key is. */
function placesByKey(items: readonly JsonObject[], mergeKey: string): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [place, item] of items.entries()) {
    if (Object.hasOwn(item, mergeKey) && !places.has(item[mergeKey])) places.set(item[mergeKey], place);
  }
  return places;
}

/** Takes the items with `$patch` out of the patch and does what they say: delete the item of that key, or replace the whole list. */
function applyItemDirectives(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { kept: readonly JsonObject[]; patches: readonly JsonObject[] } {
  const directing = patch.filter((item) => Object.hasOwn(item, PATCH_DIRECTIVE));
  const patches = patch.filter((item) => !Object.hasOwn(item, PATCH_DIRECTIVE));
  let kept = original;
  let replaced = false;
  for (const item of directing) {
    const directive = item[PATCH_DIRECTIVE];
    if (directive === 'replace') {
      replaced = true;
    } else if (directive === 'delete') {
      const key = keyOf(item, mergeKey);
      kept = kept.filter((candidate) => candidate[mergeKey] !== key || !Object.hasOwn(candidate, mergeKey));
    } else if (directive === 'merge') {
      throw new StrategicMergeError('merging lists cannot yet be specified in the patch');
    } else {
      throw badPatchType(directive, item);
    }
  }
  return replaced ? { kept: patches, patches: [] } : { kept, patches };
}

/** The item's merge key. @throws StrategicMergeError when it has none */
export function keyOf(item: JsonObject, mergeKey: string): unknown {
  if (Object.hasOwn(item, mergeKey)) return item[mergeKey];
  throw new StrategicMergeError(`map: ${formatGo(item)} does not contain declared merge key: ${mergeKey}`);
}

/** The lists as lists of objects, or undefined when they hold scalars. @throws StrategicMergeError when their items are lists, null or of several types */
export function objectLists(
  original: readonly unknown[],
  patch: readonly unknown[],
): { original: readonly JsonObject[]; patch: readonly JsonObject[] } | undefined {
  if (original.every(isJsonObject) && patch.every(isJsonObject)) return { original, patch };
  const items = [...original, ...patch];
  if (Array.isArray(items[0])) throw new StrategicMergeError('lists of lists are not supported');
  const type = goTypeName(items[0]);
  if (items[0] === null || items.some((item) => goTypeName(item) !== type)) {
    throw new StrategicMergeError(`list element types are not identical: ${formatGo([original, patch])}`);
  }
  return undefined;
}

/** How items are recognised: by their merge key, or, in a list of scalars, by their value. */
type ItemKey<T> = (item: T) => unknown;

/**
 * The order of a merged list, as Kubernetes keeps it: the items that the patch names in the patch's order, the items that only the original has
 * in the original's; an original-only item goes before the next item of the patch exactly when the original had it before that item, too.
 * Neither group is changed. `originalOrder` and `patchOrder` are the lists whose order counts.
 */
export function orderElements<T>(
  patchItems: readonly T[],
  originalOnlyItems: readonly T[],
  patchOrder: readonly T[],
  originalOrder: readonly T[],
  keyOf: ItemKey<T>,
): readonly T[] {
  const originalPlaces = placesOf(originalOrder, keyOf);
  const right = sortByPlace(patchItems, placesOf(patchOrder, keyOf), keyOf);
  const left = sortByPlace(originalOnlyItems, originalPlaces, keyOf);
  const merged: T[] = [];
  let next = 0;
  // What the original does not have is before and behind nothing.
  const placeOf = (item: T): number => originalPlaces.get(keyOf(item)) ?? NaN;
  for (const item of right) {
    const place = placeOf(item);
    for (; next < left.length; next += 1) {
      const waiting = left[next] as T;
      if (!(placeOf(waiting) < place)) break;
      merged.push(waiting);
    }
    merged.push(item);
  }
  return [...merged, ...left.slice(next)];
}

/** Where each key stands first. */
function placesOf<T>(order: readonly T[], keyOf: ItemKey<T>): ReadonlyMap<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [place, item] of order.entries()) {
    const key = keyOf(item);
    if (!places.has(key)) places.set(key, place);
  }
  return places;
}

interface Placed<T> {
  readonly item: T;
  /** NaN when it has none. */
  readonly place: number;
}

/** Stable. Items without a place are sorted as Kubernetes happens to sort them. */
function sortByPlace<T>(items: readonly T[], places: ReadonlyMap<unknown, number>, keyOf: ItemKey<T>): readonly T[] {
  const placed = items.map((item): Placed<T> => ({ item, place: places.get(keyOf(item)) ?? NaN }));
  const sorted = placed.some(({ place }) => Number.isNaN(place))
    ? insertByPlace(placed)
    : placed.toSorted((left, right) => left.place - right.place);
  return sorted.map(({ item }) => item);
}

/**
 * An insertion sort. It is spelled out because Kubernetes compares so that an item without a place comes before every item ahead of it,
 * which is no order at all: the result depends on the algorithm, and Go sorts up to 20 items by insertion.
 */
function insertByPlace<T>(items: readonly Placed<T>[]): readonly Placed<T>[] {
  const sorted: Placed<T>[] = [];
  for (const item of items) {
    sorted.splice(sorted.findLastIndex((ahead) => item.place >= ahead.place) + 1, 0, item);
  }
  return sorted;
}
