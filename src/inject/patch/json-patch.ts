import { jsonEqual } from './json-equal.ts';
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

/** Operations on a list act on what the earlier ones left: before `nextAfter` the list is as it is to be. */
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
    // Nothing between two pairs is alike: as many replacements as possible, then the rest.
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

/** The places of an item that stays, in the list before and in the list after. */
interface Pair {
  readonly before: number;
  readonly after: number;
}

/** Above this many comparisons the middle parts are paired by place: a patch need not be small for lists that no pod has. */
const mostComparisons = 40_000;

/** Pairs the items of two lists, in order: those alike at the ends, and the longest common subsequence between them. */
function pairItems(before: readonly unknown[], after: readonly unknown[]): Pair[] {
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

/** Items that are worth comparing further: equal, or objects of the same name. */
function alike(left: unknown, right: unknown): boolean {
  if (isJsonObject(left) && isJsonObject(right) && typeof left['name'] === 'string')
    return left['name'] === right['name'];
  return jsonEqual(left, right);
}

/** The longest common subsequence of alike items, by the usual table of lengths. */
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
