import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { elementOrderTarget, hasPatchDirective, isElementOrder, withoutDirectives } from './directives.ts';
import { orderElements } from './element-order.ts';
import { badArgument, formatGo, noMergeKey, StrategicMergeError } from './merge-error.ts';
import { mergeList, objectLists, type MergeObjects } from './merge-list.ts';
import { listSchema, type ListSchema, type PatchSchema } from './patch-schema.ts';

/**
 * Merges the lists whose order the patch sets by `$setElementOrder/LIST`: first the order that it names, then the patch's, then the original's.
 * Returns the original with these lists merged, and what is left of the patch.
 */
export function mergeOrderedLists(
  original: JsonObject,
  patch: JsonObject,
  schema: PatchSchema,
  mergeObjects: MergeObjects,
): { original: JsonObject; patch: JsonObject } {
  const directives = Object.keys(patch).filter(isElementOrder);
  if (directives.length === 0) return { original, patch };
  const result = { ...original };
  const remaining = { ...patch };
  for (const directive of directives) {
    const order = asList(patch[directive]);
    Reflect.deleteProperty(remaining, directive);
    const name = elementOrderTarget(directive);
    const lists = {
      original: Object.hasOwn(result, name) ? asList(result[name]) : undefined,
      patch: Object.hasOwn(remaining, name) ? asList(remaining[name]) : undefined,
    };
    const list = listSchema(schema, name);
    if (lists.patch !== undefined) checkOrder(lists.patch, order, list.mergeKey);
    const merged = mergeInOrder(lists, order, list, mergeObjects);
    if (merged === undefined) continue;
    setMember(result, name, merged);
    Reflect.deleteProperty(remaining, name);
  }
  return { original: result, patch: remaining };
}

function mergeInOrder(
  lists: { original: readonly unknown[] | undefined; patch: readonly unknown[] | undefined },
  order: readonly unknown[],
  list: ListSchema,
  mergeObjects: MergeObjects,
): readonly unknown[] | undefined {
  const { original, patch } = lists;
  let merged: readonly unknown[];
  if (patch === undefined) {
    if (original === undefined) return undefined;
    merged = original;
  } else if (original === undefined) {
    merged = asList(withoutDirectives(patch));
  } else {
    merged = list.merged ? mergeList(original, patch, list, mergeObjects) : patch;
  }
  const { named, others } = partition(merged, order, list.mergeKey);
  const before = original ?? [];
  if (before.length === 0 && (patch ?? []).length === 0) {
    throw new StrategicMergeError('no elements in any of the given slices');
  }
  const keyed = objectLists(before, patch ?? []) !== undefined;
  if (keyed) requireKeys([named, order, others, before], list.mergeKey);
  return orderElements(named, others, order, before, (item) =>
    keyed && isJsonObject(item) ? item[list.mergeKey] : item,
  );
}

/** The items that the order names, and the others. */
function partition(
  items: readonly unknown[],
  order: readonly unknown[],
  mergeKey: string,
): { named: readonly unknown[]; others: readonly unknown[] } {
  const isNamed = mergeKey === '' ? nameScalars(order) : nameObjects(order, mergeKey);
  const named: unknown[] = [];
  const others: unknown[] = [];
  for (const item of items) (isNamed(item) ? named : others).push(item);
  return { named, others };
}

function nameScalars(order: readonly unknown[]): (item: unknown) => boolean {
  const values = new Set(order);
  return (item) => values.has(item);
}

function nameObjects(order: readonly unknown[], mergeKey: string): (item: unknown) => boolean {
  return (item) => {
    if (!isJsonObject(item)) throw badArgument('object', item);
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    for (const [place, candidate] of order.entries()) {
      if (!isJsonObject(candidate)) throw new StrategicMergeError(`value for key ${place} is not a map`);
      if (Object.hasOwn(candidate, mergeKey) && candidate[mergeKey] === item[mergeKey]) return true;
    }
    return false;
  };
}

function requireKeys(lists: readonly (readonly unknown[])[], mergeKey: string): void {
  for (const item of lists.flat()) {
    if (!isJsonObject(item)) throw badArgument('object', item);
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  }
}

/** The items of the patch must be among those of the order, and in that order; those that direct the merge do not count. */
function checkOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const items = mergeKey === '' ? patch : patch.filter((item) => !isDeletion(item));
  let next = 0;
  for (const named of order) {
    while (next < items.length && hasPatchDirective(items[next])) next += 1;
    if (next >= items.length) return;
    if (haveSameKey(items[next], named, mergeKey)) next += 1;
  }
  if (next < items.length) {
    const [patchText, orderText] = [formatGo(patch), formatGo(order)];
    throw new StrategicMergeError(
      `The order in patch list:\n${patchText}\n doesn't match $setElementOrder list:\n${orderText}\n`,
    );
  }
}

function isDeletion(item: unknown): boolean {
  if (!isJsonObject(item)) throw badArgument('object', item);
  return item['$patch'] === 'delete';
}

function haveSameKey(left: unknown, right: unknown, mergeKey: string): boolean {
  if (mergeKey === '') return left === right;
  if (!isJsonObject(left)) throw badArgument('object', left);
  if (!isJsonObject(right)) throw badArgument('object', right);
  if (!Object.hasOwn(left, mergeKey)) throw noMergeKey(left, mergeKey);
  if (!Object.hasOwn(right, mergeKey)) throw noMergeKey(right, mergeKey);
  return left[mergeKey] === right[mergeKey];
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw badArgument('list', value);
  return value;
}
