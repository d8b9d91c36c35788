import { jsonEqual } from './json-equal.ts';
import { escapeToken } from './json-pointer.ts';
import { isJsonObject, type JsonObject } from './json-value.ts';

/** The RFC 6902 operations of a difference; `move`, `copy` and `test` are never produced. */
export type JsonPatchOperation =
  { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

/**
 * Returns the JSON patch (RFC 6902) from `before` to `after`. Operations share their values with
 * `after`; shared subtrees (`===`) are skipped. The order is deterministic: members in object order
 * with removals first. List items pair by equality or `name`, so an added container is one `add`.
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
  for (const name in before) {
    if (!Object.hasOwn(after, name)) operations.push({ op: 'remove', path: `${path}/${escapeToken(name)}` });
  }
  for (const name in after) {
    const value = after[name];
    if (!Object.hasOwn(before, name)) {
      operations.push({ op: 'add', path: `${path}/${escapeToken(name)}`, value });
    } else if (before[name] !== value) {
      diffValue(operations, `${path}/${escapeToken(name)}`, before[name], value);
    }
  }
}

/** Diffs two lists. Up to `nextAfter`, the operations so far have produced the result. */
function diffList(
  operations: JsonPatchOperation[],
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  let nextBefore = 0;
  let nextAfter = 0;
  const ends: Pair = { before: before.length, after: after.length };
  for (const pair of [...pairItems(before, after), ends]) {
    // Items between two pairs have no counterpart: replace them first, then add or remove the rest.
    for (; nextBefore < pair.before && nextAfter < pair.after; nextBefore += 1, nextAfter += 1)
      operations.push({ op: 'replace', path: `${path}/${nextAfter}`, value: after[nextAfter] });
    for (; nextBefore < pair.before; nextBefore += 1) operations.push({ op: 'remove', path: `${path}/${nextAfter}` });
    for (; nextAfter < pair.after; nextAfter += 1)
      operations.push({ op: 'add', path: `${path}/${nextAfter}`, value: after[nextAfter] });
    if (pair !== ends) diffValue(operations, `${path}/${nextAfter}`, before[nextBefore], after[nextAfter]);
    nextBefore += 1;
    nextAfter += 1;
  }
}

/** The indexes of a retained item in the two lists. */
export interface Pair {
  readonly before: number;
  readonly after: number;
}

/** The limit on comparisons. Longer lists are paired by index, so their patch may be larger. */
const mostComparisons = 40_000;

/** Pairs items in order: common ends first, then the longest common subsequence of the middle. */
export function pairItems(before: readonly unknown[], after: readonly unknown[]): Pair[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && alike(before[start], after[start])) start += 1;
  let tail = 0;
  while (tail < shorter - start && alike(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail += 1;
  const pairs: Pair[] = Array.from({ length: start }, (_, index) => ({ before: index, after: index }));
  const middle = commonItems(before.slice(start, before.length - tail), after.slice(start, after.length - tail));
  for (const pair of middle) pairs.push({ before: start + pair.before, after: start + pair.after });
  for (let index = tail; index > 0; index -= 1)
    pairs.push({ before: before.length - index, after: after.length - index });
  return pairs;
}

/** Reports whether two items are equal, or are objects with the same name. */
function alike(left: unknown, right: unknown): boolean {
  if (isJsonObject(left) && isJsonObject(right) && typeof left['name'] === 'string')
    return left['name'] === right['name'];
  return jsonEqual(left, right);
}

/** Returns the longest common subsequence of paired items, from a table of lengths. */
function commonItems(before: readonly unknown[], after: readonly unknown[]): Pair[] {
  const [rows, columns] = [before.length, after.length];
  if (rows === 0 || columns === 0 || rows * columns > mostComparisons) return [];
  const lengths = new Uint32Array((rows + 1) * (columns + 1));
  const lengthAt = (row: number, column: number): number => lengths[row * (columns + 1) + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * (columns + 1) + column] = alike(before[row], after[column])
        ? lengthAt(row + 1, column + 1) + 1
        : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const pairs: Pair[] = [];
  let row = 0;
  let column = 0;
  while (row < rows && column < columns) {
    if (alike(before[row], after[column])) {
      pairs.push({ before: row, after: column });
      row += 1;
      column += 1;
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) {
      row += 1;
    } else {
      column += 1;
    }
  }
  return pairs;
}
