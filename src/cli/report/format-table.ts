/** Lines with columns three spaces apart, as kubectl prints them; the last column is not padded. */
export function formatTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [columns, ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)));
  return all
    .map((row) =>
      row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('   '),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
