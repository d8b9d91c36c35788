import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatTable, formatUntil } from './write-report.ts';

describe('a table', () => {
  it('has no line longer than the screen, and loses no text', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'B', '-', '/', ',', ' ') });
    const items = fc.integer({ min: 1, max: 8 }).chain((count) => {
      return fc.array(fc.tuple(...Array.from({ length: count }, () => cell)), { minLength: 1, maxLength: 4 });
    });
    fc.assert(
      fc.property(items, fc.integer({ min: 80, max: 120 }), cell, (rows, width, note) => {
        const columns = rows[0]?.map((_, index) => `COLUMN${index}`) ?? [];
        const table = { columns, row: (row: string[]) => row, notes: () => [note] };
        const lines = formatTable(rows, table, width);
        for (const line of lines) assert.ok(line.length <= width, line);
        const letters = (part: string): string => Array.from(part.replaceAll(/\s/g, '')).sort().join('');
        assert.equal(letters(lines.join('')), letters([columns, ...rows, ...rows.map(() => note)].flat().join('')));
      }),
    );
  });

  it('wraps wide columns after a comma or slash, else after a hyphen', () => {
    const row = ['shop', 'StatefulSet/a-name-that-is-quite-long', 'one,two,three,four,five,six,seven,eight,nine'];
    assert.deepEqual(formatTable([row], { columns: ['NAMESPACE', 'WORKLOAD', 'TAGS'], row: (item) => item }, 60), [
      'NAMESPACE  WORKLOAD                 TAGS',
      'shop       StatefulSet/             one,two,three,four,',
      '           a-name-that-is-quite-    five,six,seven,eight,',
      '           long                     nine',
    ]);
    const narrow = { columns: ['NAMESPACES', 'MESSAGE'], row: (item: string[]) => item };
    const excerpt = `at line 2:\n  a: b${'\n'.padEnd(60)}^`;
    const lines = ['NAMESPACES  MESSAGE', 'one-two-    at line', 'three       2: a: b', '            ^'];
    assert.deepEqual(formatTable([['one-two-three', excerpt]], narrow, 19), lines);
  });
});

describe('formatUntil', () => {
  const now = Date.UTC(2026, 10, 23, 12);
  const table: [seconds: number, text: string][] = [
    [89.5 * 86_400, '89d'],
    [47 * 3600, '47h'],
    [119 * 60, '119m'],
    [119, '119s'],
    [-3 * 86_400, '3d ago'],
  ];
  for (const [seconds, text] of table) {
    it(`formats ${text}`, () => {
      assert.equal(formatUntil(new Date(now + seconds * 1000).toISOString(), now), text);
    });
  }
});
