/** A line of two compared texts. */
export interface DiffLine {
  readonly text: string;
  readonly change: 'added' | 'removed' | 'kept';
}

/** The limit on comparisons. The middle of larger texts counts as changed as a whole. */
const mostComparisons = 4_000_000;

/** Compares two texts line by line: equal ends first, then the longest common subsequence. */
export function lineDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const kept = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ text, change: 'kept' }));
  return [
    ...kept(after.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...kept(after.slice(after.length - end)),
  ];
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const [rows, columns] = [before.length, after.length];
  const isComparable = rows * columns <= mostComparisons;
  const width = columns + 1;
  // The length of the longest common subsequence of the rests from a row and a column.
  const lengths = new Uint16Array(isComparable ? (rows + 1) * width : 0);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; isComparable && row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        before[row] === after[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    if (isComparable && row < rows && column < columns && before[row] === after[column]) {
      lines.push({ text: after[column] as string, change: 'kept' });
      [row, column] = [row + 1, column + 1];
    } else if (row < rows && (column === columns || lengthAt(row + 1, column) >= lengthAt(row, column + 1))) {
      lines.push({ text: before[row] as string, change: 'removed' });
      row += 1;
    } else {
      lines.push({ text: after[column] as string, change: 'added' });
      column += 1;
    }
  }
  return lines;
}
