import { isCollection, isMap, isScalar, isSeq, type Document, type YAMLMap } from 'yaml';
import type { JsonPatchOperation } from '../patch/json-patch.ts';

/** One change inside a document. The path consists of member names and list indexes. */
export interface DocumentEdit {
  readonly op: JsonPatchOperation['op'];
  readonly path: readonly string[];
  readonly value?: unknown;
}

/** Edits a document in place; unchanged parts keep their comments and style. */
export function editDocument(document: Document, edits: readonly DocumentEdit[]): void {
  for (const { path, op, value } of edits) {
    const keys = keysOf(document, path);
    if (op === 'remove') {
      document.deleteIn(keys);
      continue;
    }
    const node = document.createNode(value, { aliasDuplicateObjects: false });
    const parent: unknown = document.getIn(keys.slice(0, -1), true);
    const key = keys.at(-1);
    if (op === 'add' && isSeq(parent) && typeof key === 'number') parent.items.splice(key, 0, node);
    else document.setIn(keys, node);
  }
}

/** Converts path parts that are list indexes, or names written as numbers, to numbers. */
function keysOf(document: Document, path: readonly string[]): unknown[] {
  let node: unknown = document.contents;
  return path.map((name) => {
    const key = isSeq(node) ? Number(name) : isMap(node) ? keyIn(node, name) : name;
    node = isCollection(node) ? node.get(key, true) : undefined;
    return key;
  });
}

function keyIn(map: YAMLMap, name: string): unknown {
  const pair = map.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === name);
  return pair === undefined ? name : isScalar(pair.key) ? pair.key.value : pair.key;
}
