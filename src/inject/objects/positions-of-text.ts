import { emptyNode, readNodes, type SpanEntry, type SpanNode } from '../yaml/read-nodes.ts';

/** Finds the positions of all values of a valid document, also of JSON. @throws YamlError */
export function positionsOfText(text: string): SpanNode {
  return readNodes(text, isJson(text)) ?? emptyNode(0);
}

function isJson(text: string): boolean {
  try {
    return /^\s*\{/.test(text) && Boolean(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Returns the node at a path, or the nearest around it, and where it starts with its key. */
export function locate(root: SpanNode, path: readonly (string | number)[]) {
  let [node, start] = [root, root.start];
  for (const name of path) {
    const isList = node.kind === 'list';
    const entry = isList ? node.entries[Number(name)] : node.entries.findLast(({ key }) => key === name);
    if (entry === undefined) return { node, start, isFound: false };
    start = isList ? entry.value.start : entry.start;
    node = entry.value;
  }
  return { node, start, isFound: true };
}

/** Returns the keys that occur twice in a map, of which Go reads the last. */
export function repeatedKeys({ kind, entries }: SpanNode): SpanEntry[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) =>
    kind === 'map' && seen.size === seen.add(entry.key).size ? [entry] : repeatedKeys(entry.value),
  );
}
