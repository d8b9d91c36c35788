import { printable } from '../../api/printable-text.ts';

/** Joins the lines of a text, and escapes its unprintable characters. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/[\t\n\r]+/g, ' ').trim());
}

/** Wraps text at a number of columns, and cuts it after `most` lines. */
export function wrap(text: string, columns: number, most = Infinity): string[] {
  const lines = [''];
  for (const word of oneLine(text).split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(...piecesOf(word, columns));
  }
  lines.shift();
  if (lines.length <= most) return lines;
  const kept = lines.slice(0, most);
  kept[most - 1] = `${start(kept[most - 1] ?? '', columns - 1)}…`;
  return kept;
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
