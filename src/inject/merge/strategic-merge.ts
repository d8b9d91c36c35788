import type { PodStructType } from '../kubernetes/go-types.ts';
import { podType } from '../kubernetes/pod-schema.ts';
import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import {
  DELETE_FROM_LIST,
  directedList,
  hasPatchDirective,
  PATCH_DIRECTIVE,
  RETAIN_KEYS,
  SET_ELEMENT_ORDER,
  withoutDirectives,
} from './directives.ts';
import { badPatchType, goTypeName, StrategicMergeError } from './merge-error.ts';
import { deleteFromList, mergeList } from './merge-list.ts';
import { listSchema, memberSchema, type PatchSchema } from './patch-schema.ts';
import { mergeOrderedLists } from './set-element-order.ts';

/**
 * Applies a strategic merge patch like `strategicpatch.StrategicMergePatch` of k8s.io/apimachinery:
 * merges lists by the key in the Go type, deletes on null, and supports `$patch`, `$retainKeys`,
 * `$deleteFromPrimitiveList/…` and `$setElementOrder/…`. Changes neither argument and shares
 * unchanged parts: returns `original` itself when nothing changes. A null patch changes nothing.
 * Keeps unknown names and values, which `normalisePod` drops or refuses.
 * @throws StrategicMergeError with the message of Kubernetes
 */
export function strategicMerge(original: JsonObject, patch: unknown, type: PodStructType = podType): JsonObject {
  if (patch === null) return original;
  if (!isJsonObject(patch)) throw new StrategicMergeError('invalid JSON document');
  return mergeObjects(original, patch, { type, pointer: false });
}

function mergeObjects(original: JsonObject, patch: JsonObject, schema: PatchSchema): JsonObject {
  if (hasPatchDirective(patch)) return replaceOrDelete(patch);
  const retained = retainKeys(original, patch);
  const ordered = mergeOrderedLists(retained.original, retained.patch, schema, mergeObjects);
  const draft = new Draft(ordered.original);
  for (const name in ordered.patch) {
    const value = ordered.patch[name];
    if (name.startsWith(DELETE_FROM_LIST)) {
      mergeDeletionList(draft, directedList(name, DELETE_FROM_LIST), value, schema);
    } else if (value === null) {
      draft.delete(name);
    } else {
      mergeMember(draft, name, value, schema);
    }
  }
  return draft.result;
}

function replaceOrDelete(patch: JsonObject): JsonObject {
  const { [PATCH_DIRECTIVE]: directive, ...replacement } = patch;
  if (directive === 'replace') return replacement;
  if (directive === 'delete') return {};
  throw badPatchType(directive, patch);
}

function mergeMember(draft: Draft, name: string, value: unknown, schema: PatchSchema): void {
  const current = draft.get(name);
  if (isJsonObject(current) && isJsonObject(value)) {
    draft.set(name, mergeObjects(current, value, memberSchema(schema, name)));
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const list = listSchema(schema, name);
    draft.set(name, list.merged ? mergeList(current, value, list, mergeObjects) : value);
  } else {
    const plain = withoutDirectives(value, 'drop');
    if (plain === undefined) draft.delete(name);
    else draft.set(name, plain);
  }
}

/** Deletes items from a list. Null deletes the member; another value of the same type is merged. */
function mergeDeletionList(draft: Draft, name: string, value: unknown, schema: PatchSchema): void {
  const current = draft.get(name);
  if (value === null) {
    draft.delete(name);
  } else if (Array.isArray(current) && Array.isArray(value)) {
    draft.set(name, deleteFromList(current, value, listSchema(schema, name), mergeObjects));
  } else if (current !== undefined && goTypeName(current) === goTypeName(value)) {
    mergeMember(draft, name, value, schema);
  }
}

/** Removes members that `$retainKeys` does not list. It must list all members of the patch. */
function retainKeys(original: JsonObject, patch: JsonObject): { original: JsonObject; patch: JsonObject } {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return { original, patch };
  const { [RETAIN_KEYS]: names, ...remaining } = patch;
  const malformed = new StrategicMergeError('invalid patch format of retainKeys');
  if (!Array.isArray(names)) throw malformed;
  const retained = new Set<unknown>(names);
  for (const [name, value] of Object.entries(remaining)) {
    const directs = name.startsWith(DELETE_FROM_LIST) || name.startsWith(SET_ELEMENT_ORDER);
    if (value !== null && !directs && !retained.has(name)) throw malformed;
  }
  const kept = Object.entries(original).filter(([name]) => retained.has(name));
  return { original: Object.fromEntries(kept), patch: remaining };
}

/** An object that is copied on the first write. */
class Draft {
  readonly #original: JsonObject;
  result: JsonObject;

  constructor(original: JsonObject) {
    this.#original = original;
    this.result = original;
  }

  get(name: string): unknown {
    return Object.hasOwn(this.result, name) ? this.result[name] : undefined;
  }

  set(name: string, value: unknown): void {
    if (this.get(name) !== value) setMember(this.#copy(), name, value);
  }

  delete(name: string): void {
    if (Object.hasOwn(this.result, name)) Reflect.deleteProperty(this.#copy(), name);
  }

  #copy(): JsonObject {
    if (this.result === this.#original) this.result = { ...this.#original };
    return this.result;
  }
}
