import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { StrategicMergeError } from './merge-error.ts';

/** The member of a patch that says what to do with the object it stands in: `delete`, `replace` or `merge`. */
export const PATCH_DIRECTIVE = '$patch';
/** The member of a patch that lists the names to keep. */
export const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM_LIST = '$deleteFromPrimitiveList';
const SET_ELEMENT_ORDER = '$setElementOrder';

/** Whether the member's name begins as `$setElementOrder/LIST` does. */
export function isElementOrder(name: string): boolean {
  return name.startsWith(SET_ELEMENT_ORDER);
}

/** Whether the member's name begins as `$deleteFromPrimitiveList/LIST` does. */
export function isDeletionList(name: string): boolean {
  return name.startsWith(DELETE_FROM_LIST);
}

/** The list that `$deleteFromPrimitiveList/LIST` is about. */
export function deletionTarget(name: string): string {
  return target(name, DELETE_FROM_LIST, 'primitive list');
}

/** The list that `$setElementOrder/LIST` is about. */
export function elementOrderTarget(name: string): string {
  return target(name, SET_ELEMENT_ORDER, 'setElementOrder list');
}

function target(name: string, prefix: string, described: string): string {
  if (!name.startsWith(`${prefix}/`)) throw new StrategicMergeError(`invalid patch format of ${described}`);
  return name.slice(prefix.length + 1);
}

export function hasPatchDirective(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, PATCH_DIRECTIVE);
}

/**
 * A part of the patch that has no counterpart in the original, as it enters the result: without members that are null and without what only
 * directs the merge. `undefined` when nothing is left; the value itself when it has nothing of the kind.
 */
export function plainValue(value: unknown): unknown {
  return isPlain(value) ? value : withoutDirectives(withoutNulls(value));
}

/** Whether there is nothing to leave out, as in most patches. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (!isJsonObject(value)) return true;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === null || name === PATCH_DIRECTIVE || (typeof member === 'object' && !isPlain(member))) return false;
  }
  return true;
}

/** Without the members that are null, however deep. Items that are null stay: only a member can be deleted by null. */
function withoutNulls(value: unknown): unknown {
  return mapParts(value, withoutNulls, (member) => (member === null ? undefined : withoutNulls(member)));
}

/** Without the objects that hold `$patch`; `undefined` when the value is one. */
export function withoutDirectives(value: unknown): unknown {
  return hasPatchDirective(value) ? undefined : mapParts(value, withoutDirectives, withoutDirectives);
}

/** The value with its items and members replaced; those that become `undefined` are left out. */
function mapParts(
  value: unknown,
  mapItem: (item: unknown) => unknown,
  mapMember: (member: unknown) => unknown,
): unknown {
  if (Array.isArray(value)) {
    const items = value.map(mapItem);
    return items.every((item, index) => item === value[index]) ? value : items.filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return value;
  let result: JsonObject = value;
  for (const [name, member] of Object.entries(value)) {
    const mapped = mapMember(member);
    if (mapped === member) continue;
    if (result === value) result = { ...value };
    if (mapped === undefined) Reflect.deleteProperty(result, name);
    else setMember(result, name, mapped);
  }
  return result;
}
