import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { type DiffLine, lineDiff } from './line-diff.ts';

const marked = (lines: readonly DiffLine[]): string =>
  lines.map(({ text, change }) => `${{ added: '+', removed: '-', kept: '' }[change]}${text}`).join(' ');

describe('lineDiff', () => {
  it('marks added and removed lines', () => {
    assert.equal(marked(lineDiff(['a', 'b', 'c'], ['a', 'x', 'b', 'd', 'c'])), 'a +x b +d c');
    assert.equal(marked(lineDiff(['a', 'b', 'c'], ['a', 'y', 'c'])), 'a -b +y c');
    assert.equal(marked(lineDiff([], ['a'])), '+a');
    assert.equal(marked(lineDiff(['a'], [])), '-a');
  });

  it('contains both texts, and keeps as many lines as possible', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const lines = lineDiff(before, after);
        const without = (change: string) => lines.filter((line) => line.change !== change).map(({ text }) => text);
        assert.deepEqual(without('added'), before);
        assert.deepEqual(without('removed'), after);
        assert.equal(lines.filter(({ change }) => change === 'kept').length, common(before, after));
      }),
    );
  });

  it('marks the middle of long texts as a whole', () => {
    const [before, after] = ['x', 'y'].map((text) => ['a', ...Array.from({ length: 2001 }, () => text), 'b']);
    const lines = lineDiff(before ?? [], after ?? []);
    assert.deepEqual(
      [lines.length, lines[0]?.change, lines[1]?.change, lines.at(-2)?.change],
      [4004, 'kept', 'removed', 'added'],
    );
  });
});

/** Returns the length of the longest common subsequence, by its definition. */
function common(before: readonly string[], after: readonly string[]): number {
  let row = after.map(() => 0);
  for (const text of before) {
    const next: number[] = [];
    for (const [index, other] of after.entries())
      next.push(text === other ? (row[index - 1] ?? 0) + 1 : Math.max(row[index] ?? 0, next[index - 1] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}
