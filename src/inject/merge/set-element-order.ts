import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import {
  directedList,
  hasPatchDirective,
  PATCH_DIRECTIVE,
  SET_ELEMENT_ORDER,
  withoutDirectives,
} from './directives.ts';
import { badArgument, formatGo, StrategicMergeError } from './merge-error.ts';
import { keyOf, mergeList, objectLists, orderElements, type MergeObjects } from './merge-list.ts';
import { listSchema, type ListSchema, type PatchSchema } from './patch-schema.ts';

/**
 * Merges lists with `$setElementOrder/LIST`. The directive determines the order, then the patch,
 * then the original. Returns the merged original and the remaining patch.
 */
export function mergeOrderedLists(
  original: JsonObject,
  patch: JsonObject,
  schema: PatchSchema,
  mergeObjects: MergeObjects,
): { original: JsonObject; patch: JsonObject } {
  const directives = Object.keys(patch).filter((name) => name.startsWith(SET_ELEMENT_ORDER));
  if (directives.length === 0) return { original, patch };
  const result = { ...original };
  const remaining = { ...patch };
  for (const directive of directives) {
    const order = asList(patch[directive]);
    Reflect.deleteProperty(remaining, directive);
    const name = directedList(directive, SET_ELEMENT_ORDER);
    const before = Object.hasOwn(result, name) ? asList(result[name]) : undefined;
    const patched = Object.hasOwn(remaining, name) ? asList(remaining[name]) : undefined;
    const list = listSchema(schema, name);
    if (patched !== undefined) checkOrder(patched, order, list.mergeKey);
    const merged = patched === undefined ? before : mergeUnordered(before, patched, list, mergeObjects);
    if (merged === undefined) continue;
    setMember(result, name, inOrder(merged, order, before ?? [], patched ?? [], list.mergeKey));
    Reflect.deleteProperty(remaining, name);
  }
  return { original: result, patch: remaining };
}

function mergeUnordered(
  before: readonly unknown[] | undefined,
  patched: readonly unknown[],
  list: ListSchema,
  mergeObjects: MergeObjects,
): readonly unknown[] {
  if (before === undefined) return asList(withoutDirectives(patched, 'keep'));
  return list.merged ? mergeList(before, patched, list, mergeObjects) : patched;
}

/** Sorts the items that the directive names in among the other items. */
function inOrder(
  merged: readonly unknown[],
  order: readonly unknown[],
  before: readonly unknown[],
  patched: readonly unknown[],
  mergeKey: string,
): readonly unknown[] {
  const isNamed = namedBy(order, mergeKey);
  const named: unknown[] = [];
  const others: unknown[] = [];
  for (const item of merged) (isNamed(item) ? named : others).push(item);
  if (before.length === 0 && patched.length === 0) {
    throw new StrategicMergeError('no elements in any of the given slices');
  }
  if (objectLists(before, patched) === undefined) return orderElements(named, others, order, before, (item) => item);
  for (const item of [named, order, others, before].flat()) keyOf(asObject(item), mergeKey);
  return orderElements(named, others, order, before, (item) => asObject(item)[mergeKey]);
}

function namedBy(order: readonly unknown[], mergeKey: string): (item: unknown) => boolean {
  if (mergeKey === '') {
    const values = new Set(order);
    return (item) => values.has(item);
  }
  return (item) => {
    const key = keyOf(asObject(item), mergeKey);
    return order.some((candidate, index) => {
      if (!isJsonObject(candidate)) throw new StrategicMergeError(`value for key ${index} is not a map`);
      return Object.hasOwn(candidate, mergeKey) && candidate[mergeKey] === key;
    });
  };
}

/** Requires that `order` contains the patch items in the same sequence; ignores directives. */
function checkOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const items = mergeKey === '' ? patch : patch.filter((item) => asObject(item)[PATCH_DIRECTIVE] !== 'delete');
  let next = 0;
  for (const named of order) {
    while (hasPatchDirective(items[next])) next += 1;
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

function haveSameKey(left: unknown, right: unknown, mergeKey: string): boolean {
  if (mergeKey === '') return left === right;
  const objects = [asObject(left), asObject(right)] as const;
  return keyOf(objects[0], mergeKey) === keyOf(objects[1], mergeKey);
}

function asObject(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw badArgument('object', value);
  return value;
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw badArgument('list', value);
  return value;
}
