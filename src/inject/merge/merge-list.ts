import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { PATCH_DIRECTIVE } from './directives.ts';
import { orderElements } from './element-order.ts';
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
  if (original.length === 0 && deleted.length === 0) return original;
  if (objectLists(original, deleted) !== undefined) return mergeList(original, deleted, schema, mergeObjects);
  const gone = new Set(deleted);
  return original.some((item) => gone.has(item)) ? original.filter((item) => !gone.has(item)) : original;
}

function mergeScalars(original: readonly unknown[], patch: readonly unknown[], schema: ListSchema): readonly unknown[] {
  if (schema.mergeKey !== '') throw badArgument('object', original[0] ?? patch[0]);
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
  if (directing.length === 0) return { kept: original, patches: patch };
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
