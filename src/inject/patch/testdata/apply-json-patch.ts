import type { JsonPatchOperation } from '../json-patch.ts';
import { parsePointer } from '../json-pointer.ts';
import { isJsonObject, setMember } from '../json-value.ts';

/**
 * Applies the operations of `diffJson` in order, as in RFC 6902, to a copy of the document.
 * @throws Error if a path does not exist, because the patch belongs to another document
 */
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  let result = structuredClone(document);
  for (const operation of operations) {
    const tokens = parsePointer(operation.path);
    const last = tokens.pop();
    if (last === undefined) {
      if (operation.op === 'remove') throw missing(operation);
      result = structuredClone(operation.value);
    } else {
      applyAt(
        tokens.reduce((parent, token) => child(parent, token, operation), result),
        last,
        operation,
      );
    }
  }
  return result;
}

function applyAt(parent: unknown, token: string, operation: JsonPatchOperation): void {
  if (Array.isArray(parent)) {
    const index = token === '-' ? parent.length : Number(token);
    const last = operation.op === 'add' ? parent.length : parent.length - 1;
    if (!Number.isInteger(index) || index < 0 || index > last) throw missing(operation);
    const removed = operation.op === 'add' ? 0 : 1;
    if (operation.op === 'remove') parent.splice(index, removed);
    else parent.splice(index, removed, structuredClone(operation.value));
  } else if (isJsonObject(parent) && (operation.op === 'add' || Object.hasOwn(parent, token))) {
    if (operation.op === 'remove') Reflect.deleteProperty(parent, token);
    else setMember(parent, token, structuredClone(operation.value));
  } else {
    throw missing(operation);
  }
}

function child(parent: unknown, token: string, operation: JsonPatchOperation): unknown {
  if (Array.isArray(parent) && Number(token) < parent.length) return parent[Number(token)];
  if (isJsonObject(parent) && Object.hasOwn(parent, token)) return parent[token];
  throw missing(operation);
}

function missing(operation: JsonPatchOperation): Error {
  return new Error(`JSON patch: ${operation.op} ${operation.path}: the document has no such path`);
}
