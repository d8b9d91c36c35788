/**
 * Counts lines by room and files by folder, and fails above the limits of scripts/budget.json.
 * `--before COMMIT` also counts COMMIT. Lower a limit after deletions; only an issue may raise it.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

interface Budget {
  /** The maximum numbers of lines, each for one or more rooms. */
  readonly lines: readonly {
    readonly name: string;
    readonly rooms: readonly string[];
    readonly limit: number;
    readonly goal?: number;
  }[];
  /** The maximum number of source files in one folder, without tests and subfolders. */
  readonly flatFiles: number;
}

const { values } = parseArgs({ options: { before: { type: 'string' } } });
const budget = JSON.parse(readFileSync(path.join(import.meta.dirname, 'budget.json'), 'utf8')) as Budget;

/** Reports whether the lines of a file count. The page also has components, styles and HTML. */
const isCounted = (file: string): boolean =>
  !file.includes('node_modules') &&
  (file.endsWith('.ts') || (/^src\/web\//.test(file) && /\.(tsx|css|html)$/.test(file)));

/** Returns the room of a file: a folder of `src`, a kind of file in `src`, or a top folder. */
function roomOf(file: string): string {
  const [top = '', room = ''] = file.split('/');
  if (top !== 'src') return top;
  if (file.includes('/testdata/')) return 'test data';
  if (file.includes('/generated/')) return 'generated';
  if (file.endsWith('.test.ts')) return 'tests';
  return room === 'web' ? 'web' : `src/${room}`;
}

function countLines(files: readonly string[], read: (file: string) => string): Map<string, number> {
  const lines = new Map<string, number>();
  for (const file of files) {
    const room = roomOf(file);
    lines.set(room, (lines.get(room) ?? 0) + read(file).split('\n').length - 1);
  }
  return lines;
}

function linesNow(): Map<string, number> {
  const files = ['src', 'e2e', 'bench', 'scripts', 'packaging'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file}`)
      .filter(isCounted),
  );
  return countLines(files, (file) => readFileSync(file, 'utf8'));
}

function linesAt(commit: string): Map<string, number> {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  const files = git('ls-tree', '-r', '--name-only', commit, 'src', 'e2e', 'bench', 'scripts', 'packaging').split('\n');
  return countLines(files.filter(isCounted), (file) => git('show', `${commit}:${file}`));
}

function sum(lines: ReadonlyMap<string, number>, rooms: readonly string[]): number {
  const isIncluded = (room: string): boolean =>
    rooms.some((each) => (each === 'src' ? room.startsWith('src/') : each === room));
  return [...lines].reduce((total, [room, count]) => total + (isIncluded(room) ? count : 0), 0);
}

/** Returns the folders of `src` with too many source files. */
function flatFolders(): string[] {
  const counts = new Map<string, number>();
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    const folder = `src/${path.dirname(file)}`;
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || folder.includes('testdata')) continue;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > budget.flatFiles)
    .map(([folder, count]) => `${folder} has ${count} source files, the limit is ${budget.flatFiles}`);
}

const now = linesNow();
const before = values.before === undefined ? undefined : linesAt(values.before);
const rows = budget.lines.map(({ name, rooms, limit, goal }) => {
  const was = before === undefined ? [] : [String(sum(before, rooms))];
  return {
    name,
    count: sum(now, rooms),
    limit,
    cells: [name, ...was, String(sum(now, rooms)), String(limit), String(goal ?? '')],
  };
});
const header = ['room', ...(before === undefined ? [] : [values.before ?? '']), 'lines', 'limit', 'goal'];
for (const cells of [header, ...rows.map((row) => row.cells)]) {
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(36) : cell.padStart(8))).join(' '));
}
const mistakes = [
  ...rows
    .filter(({ count, limit }) => count > limit)
    .map(({ name, count, limit }) => `${name} has ${count} lines, the limit is ${limit}`),
  ...flatFolders(),
];
for (const mistake of mistakes) console.log(`ABOVE ${mistake}`);
console.log(
  mistakes.length === 0
    ? 'within the budget'
    : 'delete or merge code, or open an issue to raise the limit in scripts/budget.json',
);
process.exitCode = mistakes.length === 0 ? 0 : 1;
