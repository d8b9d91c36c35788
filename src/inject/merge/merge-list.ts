import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { PATCH_DIRECTIVE } from './directives.ts';
import { badArgument, badPatchType, formatGo, goTypeName, StrategicMergeError } from './merge-error.ts';
import { patchKindName, type ListSchema, type PatchSchema } from './patch-schema.ts';

/** Merges two objects; passed as an argument to break an import cycle. */
export type MergeObjects = (original: JsonObject, patch: JsonObject, schema: PatchSchema) => JsonObject;

/** Merges lists with strategy `merge`. Returns the original itself when nothing changes. */
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

/** Applies `$deleteFromPrimitiveList`. Lists of objects are merged instead, as in Kubernetes. */
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
    throw new StrategicMergeError(`cannot merge lists without merge key for ${patchKindName(schema.items)}`);
  }
  const { kept, patches } = applyItemDirectives(original, patch, mergeKey);
  const together = [...patches, ...kept];
  // Fast path: the patch only adds items.
  const keys = new Set(together.map((item) => item[mergeKey]));
  if (keys.size === together.length && !keys.has(undefined)) return together;
  const merged = [...kept];
  const indexes = indexesByKey(kept, mergeKey);
  for (const item of patches) {
    const key = keyOf(item, mergeKey);
    const index = indexes.get(key) ?? merged.length;
    const found = merged[index];
    const result = found === undefined ? item : mergeObjects(found, item, schema.items);
    merged[index] = result;
    // The merge deletes a null key, so later items cannot match it.
    if (Object.hasOwn(result, mergeKey)) indexes.set(key, index);
    else indexes.delete(key);
  }
  const patchedKeys = new Set(patches.map((item) => keyOf(item, mergeKey)));
  const patchItems = merged.filter((item) => patchedKeys.has(keyOf(item, mergeKey)));
  const originalOnly = merged.filter((item) => !patchedKeys.has(keyOf(item, mergeKey)));
  return orderElements(patchItems, originalOnly, patches, kept, (item) => item[mergeKey]);
}

/** Returns the index of the first item of each key. */
function indexesByKey(items: readonly JsonObject[], mergeKey: string): Map<unknown, number> {
  const indexes = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    if (Object.hasOwn(item, mergeKey) && !indexes.has(item[mergeKey])) indexes.set(item[mergeKey], index);
  }
  return indexes;
}

/** Applies the items with `$patch`, which delete the item of the same key or replace the list. */
function applyItemDirectives(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { kept: readonly JsonObject[]; patches: readonly JsonObject[] } {
  const directives = patch.filter((item) => Object.hasOwn(item, PATCH_DIRECTIVE));
  const patches = patch.filter((item) => !Object.hasOwn(item, PATCH_DIRECTIVE));
  let kept = original;
  let replaced = false;
  for (const item of directives) {
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

/** Returns the item's merge key. @throws StrategicMergeError if the item has no merge key */
export function keyOf(item: JsonObject, mergeKey: string): unknown {
  if (Object.hasOwn(item, mergeKey)) return item[mergeKey];
  throw new StrategicMergeError(`map: ${formatGo(item)} does not contain declared merge key: ${mergeKey}`);
}

/** Returns lists of objects; `undefined` for scalars. @throws StrategicMergeError otherwise */
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

/** Identifies items by their merge key, or scalars by their value. */
type ItemKey<T> = (item: T) => unknown;

/**
 * Orders a merged list like Kubernetes: patch items in patch order, original-only items in original
 * order. An original-only item precedes the next patch item if it does so in the original.
 * `originalOrder` and `patchOrder` are the lists that define the order.
 */
export function orderElements<T>(
  patchItems: readonly T[],
  originalOnlyItems: readonly T[],
  patchOrder: readonly T[],
  originalOrder: readonly T[],
  keyOf: ItemKey<T>,
): readonly T[] {
  const originalIndexes = indexesOf(originalOrder, keyOf);
  const right = sortByIndex(patchItems, indexesOf(patchOrder, keyOf), keyOf);
  const left = sortByIndex(originalOnlyItems, originalIndexes, keyOf);
  const merged: T[] = [];
  let next = 0;
  // NaN makes an item that is not in the original compare as neither before nor after.
  const indexOf = (item: T): number => originalIndexes.get(keyOf(item)) ?? NaN;
  for (const item of right) {
    const index = indexOf(item);
    for (; next < left.length; next += 1) {
      const waiting = left[next] as T;
      if (!(indexOf(waiting) < index)) break;
      merged.push(waiting);
    }
    merged.push(item);
  }
  return [...merged, ...left.slice(next)];
}

/** Returns the first index of each key. */
function indexesOf<T>(order: readonly T[], keyOf: ItemKey<T>): ReadonlyMap<unknown, number> {
  const indexes = new Map<unknown, number>();
  for (const [index, item] of order.entries()) {
    const key = keyOf(item);
    if (!indexes.has(key)) indexes.set(key, index);
  }
  return indexes;
}

interface Indexed<T> {
  readonly item: T;
  /** The position in the order; NaN if it is unknown. */
  readonly index: number;
}

/** Sorts by index. Sorts items without an index as Kubernetes does. */
function sortByIndex<T>(items: readonly T[], indexes: ReadonlyMap<unknown, number>, keyOf: ItemKey<T>): readonly T[] {
  const indexed = items.map((item): Indexed<T> => ({ item, index: indexes.get(keyOf(item)) ?? NaN }));
  const sorted = indexed.some(({ index }) => Number.isNaN(index))
    ? insertByIndex(indexed)
    : indexed.toSorted((left, right) => left.index - right.index);
  return sorted.map(({ item }) => item);
}

/**
 * Sorts by insertion, as Go does up to 20 items. The algorithm matters because Kubernetes'
 * comparison is inconsistent: it puts an item without an index before all earlier items.
 */
function insertByIndex<T>(items: readonly Indexed<T>[]): readonly Indexed<T>[] {
  const sorted: Indexed<T>[] = [];
  for (const item of items) {
    sorted.splice(sorted.findLastIndex((ahead) => item.index >= ahead.index) + 1, 0, item);
  }
  return sorted;
}
