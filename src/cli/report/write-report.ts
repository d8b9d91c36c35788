import { Option } from 'commander';
import { stringify } from 'yaml';
import type { Terminal } from '../terminal.ts';
import type { PodCounts } from '../usage/usage-report.ts';

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
  if (format !== 'table') writeData(terminal, format, items);
  else if (items.length === 0) terminal.error(empty);
  else terminal.out(formatTable(columns, items.map(row)));
}

/** Prints something whole, for programs. */
export function writeData(terminal: Terminal, format: 'json' | 'yaml', data: unknown): void {
  terminal.out(format === 'json' ? `${JSON.stringify(data, undefined, 2)}\n` : stringify(data));
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

/** `15 (3 stale, 1 missing)`: how many pods have to do with something, and what is not as it would be now. */
export function formatPodCounts({ current, stale, missing }: PodCounts): string {
  const apart = [stale > 0 ? `${stale} stale` : '', missing > 0 ? `${missing} missing` : ''].filter(Boolean);
  return `${current + stale + missing}${apart.length === 0 ? '' : ` (${apart.join(', ')})`}`;
}

/** The first five names of a list, and how many there are when there are more. */
export function formatNames(names: readonly string[]): string {
  if (names.length === 0) return '-';
  return names.length <= 5 ? names.join(',') : `${names.slice(0, 5).join(',')}… (${names.length})`;
}

/** `2 namespaces`, `1 pod`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
