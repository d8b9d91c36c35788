/**
 * Compares how `inject` and `uninject` read and write files with kubectl's reader: file-judge (Go)
 * reads random files, what `inject` makes of them, and what `uninject` makes of that. Exits with
 * code 1 if a file has a fault, if `inject` refuses over 1 % of what kubectl reads, or if over
 * 1 % do not come back byte for byte. `--planted` also plants mistakes, which it must find.
 *
 *     file-differential.ts [--count 2000] [--seed 1] [--show 3] [--planted] [--source src]
 *
 * File number N alone: `--seed N --count 1 --verbose`.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type Finding, findingOf, type Verdict } from './file-judge/compare.ts';
import { loadSubjects, type Run } from './file-judge/subject.ts';
import { randomFile } from './file-judge/write-file.ts';
import { mistakenCopy, type PlantedMistake, removeCopies } from './safe-templates/mistaken-copy.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '3' },
    source: { type: 'string', default: path.join(import.meta.dirname, '../src') },
    planted: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const [count, seed, show] = [values.count, values.seed, values.show].map(Number) as [number, number, number];
const batch = 500;

function buildJudge(folder: string): string {
  const binary = path.join(folder, 'judge');
  const cwd = path.join(import.meta.dirname, 'file-judge');
  if (spawnSync('go', ['build', '-o', binary, '.'], { cwd, stdio: 'inherit' }).status !== 0)
    throw new Error('go build of scripts/file-judge failed');
  return binary;
}

const folder = mkdtempSync(path.join(tmpdir(), 'file-differential-'));
const judge = spawn(buildJudge(folder), [], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: judge.stdout })[Symbol.asyncIterator]();

/** Returns what kubectl reads in each text; nothing for no text. */
async function verdicts(texts: readonly string[]): Promise<Verdict[]> {
  judge.stdin.write(texts.map((text) => `${JSON.stringify(text)}\n`).join(''));
  const result: Verdict[] = [];
  while (result.length < texts.length) {
    const answer = await answers.next();
    if (answer.done === true) throw new Error('the judge has ended');
    result.push(JSON.parse(answer.value) as Verdict);
  }
  return result;
}

const figures = { files: 0, refusedByKubectl: 0, refused: 0, injected: 0, exact: 0, faults: 0 };
const classes = new Map<string, { count: number; shown: string[] }>();

function add(run: Run, number: number, before: Verdict, finding: Finding | undefined): void {
  figures.files += 1;
  if (before.error !== undefined) figures.refusedByKubectl += 1;
  if (run.back !== undefined) figures.injected += 1;
  if (run.back?.outcome === 'done' && run.back.text === run.file.text) figures.exact += 1;
  if (finding === undefined) return;
  if (finding.kind === 'stricter') figures.refused += 1;
  if (finding.kind === 'fault') figures.faults += 1;
  const name = `${finding.kind}: ${finding.name}`;
  const known = classes.get(name) ?? { count: 0, shown: [] };
  classes.set(name, known);
  known.count += 1;
  if (known.shown.length < show) known.shown.push(`file ${number}: ${finding.detail ?? ''}`.slice(0, 600));
}

try {
  const subjects = await loadSubjects(path.resolve(values.source));
  for (let first = seed; first < seed + count; first += batch) {
    const numbers = Array.from({ length: Math.min(batch, seed + count - first) }, (_, index) => first + index);
    const runs = numbers.map((number) => {
      const subject = subjects[number % subjects.length]!;
      return { number, subject, run: subject.run(randomFile(number)) };
    });
    const texts = runs.flatMap(({ run: { file, injected, back } }) => {
      const out = injected.outcome === 'done' ? injected.text : file.text;
      return [file.text, out, back?.outcome === 'done' ? back.text : out];
    });
    const read = await verdicts(texts);
    for (const [index, { number, run, subject }] of runs.entries()) {
      const [before, after, back] = read.slice(3 * index) as [Verdict, Verdict, Verdict];
      add(run, number, before, findingOf(run, subject, before, after, back));
      if (values.verbose)
        console.log(JSON.stringify({ texts: texts.slice(3 * index, 3 * index + 3), run, before }, undefined, 1));
    }
  }
} finally {
  judge.stdin.end();
  await ended(judge);
  rmSync(folder, { recursive: true });
}

/** Reports whether this program finds faults in a copy of the commands with a mistake. */
function isFound(mistake: PlantedMistake, index: number): boolean {
  const source = mistakenCopy(mistake, index, ['.']);
  const flags = [`--source=${source}`, `--seed=${seed}`, '--count=3000', '--show=1'];
  const { stdout } = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, ...flags], {
    encoding: 'utf8',
  });
  const faults = /^FAIL .*/m.exec(stdout)?.[0] ?? 'NOT found';
  console.log(`planted: ${mistake.title}: ${faults}`);
  return faults !== 'NOT found';
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) await once(child, 'exit');
}

for (const [name, { count: many, shown }] of [...classes].sort(([one], [other]) => one.localeCompare(other)))
  console.log([`${many} × ${name}`, ...shown].join('\n    '));
const readable = figures.files - figures.refusedByKubectl;
const checks: [name: string, holds: boolean][] = [
  ['no file has a fault', figures.faults === 0],
  ['inject refuses at most 1 % of what kubectl reads', figures.refused <= readable / 100],
  ['uninject gives at least 99 % of the files byte for byte', figures.exact >= 0.99 * figures.injected],
];
console.log(
  `${figures.files} files: kubectl refuses ${figures.refusedByKubectl}, inject alone ${figures.refused}; ` +
    `${figures.injected} injected, ${figures.exact} exact after uninject; ${figures.faults} faults`,
);
if (values.planted) {
  const file = new URL('file-judge/planted-mistakes.json', import.meta.url);
  const mistakes = JSON.parse(readFileSync(file, 'utf8')) as PlantedMistake[];
  for (const [index, mistake] of mistakes.entries()) checks.push([`finds: ${mistake.title}`, isFound(mistake, index)]);
  removeCopies();
}
for (const [name, holds] of checks) if (!holds) console.log(`FAIL ${name}`);
const failed = checks.filter(([, holds]) => !holds).length;
console.log(`${checks.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
