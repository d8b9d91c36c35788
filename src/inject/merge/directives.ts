import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { StrategicMergeError } from './merge-error.ts';

/** The member of a patch that says what to do with the object it stands in: `delete`, `replace` or `merge`. */
export const PATCH_DIRECTIVE = '$patch';
/** The member of a patch that lists the names to keep. */
export const RETAIN_KEYS = '$retainKeys';
/** What the names of members begin with that say which items of a list go, and in which order its items stand. */
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList';
export const SET_ELEMENT_ORDER = '$setElementOrder';

/** The list that the member `DIRECTIVE/LIST` is about. @throws StrategicMergeError when it names none */
export function directedList(member: string, directive: typeof DELETE_FROM_LIST | typeof SET_ELEMENT_ORDER): string {
  if (member.startsWith(`${directive}/`)) return member.slice(directive.length + 1);
  const described = directive === DELETE_FROM_LIST ? 'primitive list' : 'setElementOrder list';
  throw new StrategicMergeError(`invalid patch format of ${described}`);
}

export function hasPatchDirective(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, PATCH_DIRECTIVE);
}

/**
 * A part of the patch that has no counterpart in the original, as it enters the result: without the objects that hold `$patch`. `undefined` when it
 * is one itself; the value itself when there are none.
 * @param nulls What becomes of members that are null, which is done first. Items that are null stay: only a member can be deleted by null.
 */
export function withoutDirectives(value: unknown, nulls: 'keep' | 'drop'): unknown {
  if (Array.isArray(value)) {
    let items: unknown[] | undefined;
    for (const [index, item] of (value as unknown[]).entries()) {
      const kept = withoutDirectives(item, nulls);
      if (kept !== item) items ??= value.slice(0, index);
      if (kept !== undefined) items?.push(kept);
    }
    return items ?? value;
  }
  if (!isJsonObject(value)) return value;
  const dropped = nulls === 'drop' ? null : undefined;
  if (hasPatchDirective(value) && value[PATCH_DIRECTIVE] !== dropped) return undefined;
  let result: JsonObject = value;
  for (const name in value) {
    const member = value[name];
    const kept = member === dropped ? undefined : withoutDirectives(member, nulls);
    if (kept === member) continue;
    if (result === value) result = { ...value };
    if (kept === undefined) Reflect.deleteProperty(result, name);
    else setMember(result, name, kept);
  }
  return result;
}
