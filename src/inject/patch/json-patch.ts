import { alignLists } from './align-lists.ts';
import { escapeToken } from './json-pointer.ts';
import { isJsonObject, type JsonObject } from './json-value.ts';

/** The operations of RFC 6902 that a difference needs (`move`, `copy` and `test` are never produced). */
export type JsonPatchOperation =
  { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

/**
 * The JSON patch (RFC 6902) that turns `before` into `after`. Neither is changed; the operations share their values with `after`.
 * Subtrees that both share (`===`) are not looked into, so the cost follows what changed. The same input always gives the same operations:
 * members in the order of their object, removals first; list items are paired by equality or by `name`, so a container that is added is one `add`.
 */
export function diffJson(before: unknown, after: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  diffValue(operations, '', before, after);
  return operations;
}

function diffValue(operations: JsonPatchOperation[], path: string, before: unknown, after: unknown): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    diffList(operations, path, before, after);
  } else if (isJsonObject(before) && isJsonObject(after)) {
    diffObject(operations, path, before, after);
  } else {
    operations.push({ op: 'replace', path, value: after });
  }
}

function diffObject(operations: JsonPatchOperation[], path: string, before: JsonObject, after: JsonObject): void {
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) operations.push({ op: 'remove', path: `${path}/${escapeToken(name)}` });
  }
  for (const name of Object.keys(after)) {
    const value = after[name];
    if (!Object.hasOwn(before, name)) {
      operations.push({ op: 'add', path: `${path}/${escapeToken(name)}`, value });
    } else if (before[name] !== value) {
      diffValue(operations, `${path}/${escapeToken(name)}`, before[name], value);
    }
  }
}

/** Operations on a list act on what the earlier ones left: `index` is the place in the list as it is then. */
function diffList(
  operations: JsonPatchOperation[],
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  let index = 0;
  for (const step of alignLists(before, after)) {
    switch (step.kind) {
      case 'keep':
        diffValue(operations, `${path}/${index}`, before[step.before], after[step.after]);
        index += 1;
        break;
      case 'replace':
        operations.push({ op: 'replace', path: `${path}/${index}`, value: after[step.after] });
        index += 1;
        break;
      case 'add':
        operations.push({ op: 'add', path: `${path}/${index}`, value: after[step.after] });
        index += 1;
        break;
      case 'remove':
        operations.push({ op: 'remove', path: `${path}/${index}` });
        break;
    }
  }
}
