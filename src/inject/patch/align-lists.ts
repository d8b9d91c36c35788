import { jsonEqual } from './json-equal.ts';
import { isJsonObject } from './json-value.ts';

/** One step of turning a list into another, in the order of the lists. Numbers are places in the list before and in the list after. */
export type ListStep =
  | { kind: 'keep'; before: number; after: number }
  | { kind: 'replace'; after: number }
  | { kind: 'add'; after: number }
  | { kind: 'remove' };

/** Above this many comparisons the middle parts are paired by place: a patch need not be small for lists that no pod has. */
const MOST_COMPARISONS = 40_000;

/** Pairs the items of two lists: the same at the ends, then the longest common subsequence of alike items between them. */
export function alignLists(before: readonly unknown[], after: readonly unknown[]): ListStep[] {
  const steps: ListStep[] = [];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && alike(before[start], after[start])) {
    steps.push({ kind: 'keep', before: start, after: start });
    start += 1;
  }
  let tail = 0;
  while (tail < shorter - start && alike(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail += 1;

  alignMiddle(steps, before, after, start, before.length - tail, after.length - tail);
  for (let index = tail; index > 0; index -= 1)
    steps.push({ kind: 'keep', before: before.length - index, after: after.length - index });
  return steps;
}

/** Items that are worth comparing further: equal, or objects of the same name. */
function alike(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (!isJsonObject(left) || !isJsonObject(right)) return jsonEqual(left, right);
  return typeof left['name'] === 'string' ? left['name'] === right['name'] : jsonEqual(left, right);
}

function alignMiddle(
  steps: ListStep[],
  before: readonly unknown[],
  after: readonly unknown[],
  start: number,
  beforeEnd: number,
  afterEnd: number,
): void {
  let nextBefore = start;
  let nextAfter = start;
  for (const pair of commonItems(before, after, start, beforeEnd, afterEnd)) {
    alignGap(steps, pair.before - nextBefore, nextAfter, pair.after);
    steps.push({ kind: 'keep', ...pair });
    nextBefore = pair.before + 1;
    nextAfter = pair.after + 1;
  }
  alignGap(steps, beforeEnd - nextBefore, nextAfter, afterEnd);
}

/** Nothing in a gap is alike: as many replacements as possible, then the rest. */
function alignGap(steps: ListStep[], removed: number, afterStart: number, afterEnd: number): void {
  let place = afterStart;
  let left = removed;
  for (; left > 0 && place < afterEnd; left -= 1, place += 1) steps.push({ kind: 'replace', after: place });
  for (; left > 0; left -= 1) steps.push({ kind: 'remove' });
  for (; place < afterEnd; place += 1) steps.push({ kind: 'add', after: place });
}

/** The longest common subsequence of alike items, by the usual table of lengths. */
function commonItems(
  before: readonly unknown[],
  after: readonly unknown[],
  start: number,
  beforeEnd: number,
  afterEnd: number,
): { before: number; after: number }[] {
  const rows = beforeEnd - start;
  const columns = afterEnd - start;
  if (rows === 0 || columns === 0 || rows * columns > MOST_COMPARISONS) return [];
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const matches = new Uint8Array((rows + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const same = alike(before[start + row], after[start + column]);
      matches[row * width + column] = same ? 1 : 0;
      lengths[row * width + column] = same
        ? lengthAt(row + 1, column + 1) + 1
        : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const pairs: { before: number; after: number }[] = [];
  let row = 0;
  let column = 0;
  while (row < rows && column < columns) {
    if (matches[row * width + column] === 1) {
      pairs.push({ before: start + row, after: start + column });
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
