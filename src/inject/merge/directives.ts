import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { StrategicMergeError } from './merge-error.ts';

/** The member of a patch that directs its object: `delete`, `replace` or `merge`. */
export const PATCH_DIRECTIVE = '$patch';
/** The member of a patch that lists the names to keep. */
export const RETAIN_KEYS = '$retainKeys';
/** Prefixes of members that delete or order the items of a list. */
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList';
export const SET_ELEMENT_ORDER = '$setElementOrder';

/** Returns the list name in `DIRECTIVE/LIST`. @throws StrategicMergeError if there is none */
export function directedList(member: string, directive: typeof DELETE_FROM_LIST | typeof SET_ELEMENT_ORDER): string {
  if (member.startsWith(`${directive}/`)) return member.slice(directive.length + 1);
  const described = directive === DELETE_FROM_LIST ? 'primitive list' : 'setElementOrder list';
  throw new StrategicMergeError(`invalid patch format of ${described}`);
}

export function hasPatchDirective(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, PATCH_DIRECTIVE);
}

/**
 * Returns a part of the patch without objects that contain `$patch`; `undefined` for such an
 * object.
 * @param nulls whether to drop null members first. Null items remain: null deletes only members.
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
