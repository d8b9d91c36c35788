import { Option } from 'commander';
import { stringify } from 'yaml';
import type { Terminal } from '../terminal.ts';

const formats = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof formats)[number];

/** `-o table|json|yaml`, as kubectl and istioctl spell it. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to print').choices(formats).default('table');
}

/** How a list is shown to people. */
export interface TableOf<Item> {
  readonly columns: readonly string[];
  readonly row: (item: Item) => readonly string[];
  /** The line for people when there is nothing to list. */
  readonly empty: string;
}

/** Prints a list: a table for people, the items whole for programs. */
export function writeReport<Item>(
  terminal: Terminal,
  format: OutputFormat,
  items: readonly Item[],
  { columns, row, empty }: TableOf<Item>,
): void {
  if (format === 'json') terminal.out(`${JSON.stringify(items, undefined, 2)}\n`);
  else if (format === 'yaml') terminal.out(stringify(items));
  else if (items.length === 0) terminal.error(empty);
  else terminal.out(formatTable(columns, items.map(row)));
}

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
