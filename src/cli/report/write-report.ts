import { Option } from 'commander';
import { Document, visit } from 'yaml';
import { escapeYaml, jsonText, printable } from '../../api/printable-text.ts';
import type { Terminal } from '../terminal.ts';
import type { PodCounts } from '../../operator/usage/judge-pod.ts';

const formats = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof formats)[number];

/** `-o`, as in kubectl and istioctl. @param choices the formats; the first is the default */
export function outputOption(choices: readonly string[] = formats): Option {
  return new Option('-o, --output <format>', 'the output format').choices(choices).default(choices[0]);
}

/** The layout of a table. */
export interface TableOf<Item> {
  readonly columns: readonly string[];
  readonly row: (item: Item) => readonly string[];
  /** Remarks on an item, printed below its row. A command stays on one line. */
  readonly notes?: (item: Item) => readonly string[];
  /** The text for an empty list. */
  readonly empty: string;
}

/** Prints a list as a table, or the complete items as JSON or YAML. */
export function writeReport<Item>(
  terminal: Terminal,
  format: OutputFormat,
  items: readonly Item[],
  { empty, ...table }: TableOf<Item>,
): void {
  if (format !== 'table') writeData(terminal, format, items);
  else if (items.length === 0) terminal.error(empty);
  else terminal.out(formatTable(items, table, widthOf(terminal)));
}

/** Returns the width of the terminal in columns; 80 if unknown. */
export function widthOf(terminal: Terminal): number {
  return terminal.screen()?.columns ?? 80;
}

/** Prints data as JSON or YAML. */
export function writeData(terminal: Terminal, format: 'json' | 'yaml', data: unknown): void {
  terminal.document(format === 'json' ? `${jsonText(data, 2)}\n` : yamlText(data));
}

/** Returns data as YAML; texts with unprintable characters are quoted and escape them. */
function yamlText(data: unknown): string {
  const document = new Document(data);
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && printable(node.value, '\n') !== node.value) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeYaml(document.toString());
}

/** The minimum width of a wrapped column. */
const narrowest = 8;

/**
 * Formats lines with columns three spaces apart, as kubectl does; the last column is not padded. If
 * a line is wider than the screen, columns are two spaces apart and the widest columns are wrapped.
 */
export function formatTable<Item>(
  items: readonly Item[],
  { columns, row, notes }: Omit<TableOf<Item>, 'empty'>,
  width: number,
): string[] {
  const rows = [columns, ...items.map(row)].map((cells) => cells.map(oneLine));
  const natural = columns.map((_, index) => Math.max(...rows.map((each) => each[index]?.length ?? 0)));
  const total = (widths: readonly number[]): number => widths.reduce((sum, each) => sum + each, 0);
  const isWide = total(natural) + 3 * (columns.length - 1) > width;
  const space = width - 2 * (columns.length - 1);
  let widths = natural;
  const headers = columns.map(({ length }) => length);
  const least = total(headers) > space ? [] : headers;
  for (let most = Math.max(...natural); total(widths) > space && most >= narrowest; most -= 1) {
    widths = natural.map((each, index) => Math.min(each, Math.max(most, least[index] ?? 0)));
  }
  return rows
    .flatMap((cells, index) => {
      const wrapped = cells.map((cell, column) => wrap(cell, widths[column] ?? 0));
      const lines = Array.from({ length: Math.max(...wrapped.map(({ length }) => length)) }, (_, line) =>
        wrapped.map((cell, column) => (cell[line] ?? '').padEnd(widths[column] ?? 0)).join(isWide ? '  ' : '   '),
      );
      const item = items[index - 1];
      const sentences = item === undefined ? [] : (notes?.(item) ?? []);
      return [...lines, ...sentences.flatMap((each) => wrapUnlessCommand(each, width - 2).map((line) => `  ${line}`))];
    })
    .map((line) => line.trimEnd());
}

/** Formats `15 (3 stale, 1 missing)`: the total, and the pods that are not current. */
export function formatPodCounts({ current, stale, missing }: PodCounts): string {
  const apart = [stale > 0 ? `${stale} stale` : '', missing > 0 ? `${missing} missing` : ''].filter(Boolean);
  return `${current + stale + missing}${apart.length === 0 ? '' : ` (${apart.join(', ')})`}`;
}

/** Formats the first five names of a list, and the total number of names if there are more. */
export function formatNames(names: readonly string[]): string {
  if (names.length === 0) return '-';
  return names.length <= 5 ? names.join(',') : `${names.slice(0, 5).join(',')}… (${names.length})`;
}

/** Formats the time until `time` like kubectl (`89d`, `5h`), `3d ago` if it is past, or `-`. */
export function formatUntil(time: string | undefined, now: number): string {
  if (time === undefined) return '-';
  const seconds = Math.abs(Date.parse(time) - now) / 1000;
  const [size, unit] = (
    [
      [172_800, 'd'],
      [7200, 'h'],
      [120, 'm'],
    ] as const
  ).find(([least]) => seconds >= least) ?? [2, 's'];
  return `${Math.floor((seconds * 2) / size)}${unit}${Date.parse(time) < now ? ' ago' : ''}`;
}

/** Formats `2 namespaces`, `1 pod`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Joins the lines of a text, and escapes its unprintable characters. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/[\t\n\r]+/g, ' ').trim());
}

/** Wraps text at a number of columns, and cuts it after `most` lines. */
export function wrap(text: string, columns: number, most = Infinity): string[] {
  const lines = [''];
  // Spaces align the parts of a line that fits; in a longer one, they would be empty lines.
  const line = oneLine(text);
  if (line.length <= columns) return [line];
  for (const word of line.split(/ +/)) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(...piecesOf(word, columns));
  }
  lines.shift();
  if (lines.length <= most) return lines;
  const kept = lines.slice(0, most);
  kept[most - 1] = `${start(kept[most - 1] ?? '', columns - 1)}…`;
  return kept;
}

/** Wraps a text at a number of columns; a command stays on one line, so that it can be copied. */
export function wrapUnlessCommand(text: string, columns: number): string[] {
  return /^(?:kubectl|injector|#) /.test(text) ? [oneLine(text)] : wrap(text, columns);
}

/** Splits a word that is longer than a line, after a comma or slash, else after a hyphen. */
function piecesOf(word: string, most: number): string[] {
  const columns = Math.max(1, most);
  const pieces: string[] = [];
  let rest = word;
  while (rest.length > columns) {
    const head = start(rest, columns);
    const end = Math.max(head.lastIndexOf(','), head.lastIndexOf('/')) + 1 || head.lastIndexOf('-') + 1 || head.length;
    pieces.push(head.slice(0, end));
    rest = rest.slice(pieces.at(-1)?.length);
  }
  return [...pieces, rest];
}

/** Cuts a line to a number of columns. */
export function cutLine(line: string, columns: number): string {
  return line.length <= columns ? line : `${start(line, columns - 1)}…`;
}

/** Cuts a text without splitting a character of two units, if there is room. */
const start = (text: string, columns: number): string =>
  text.slice(0, Math.max(0, columns)).replace(/(?<=[^])[\uD800-\uDBFF]$/, '');
