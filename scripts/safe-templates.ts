/**
 * Tests preset Safe with random templates and hostile authors. compare-pods.ts compares accepted
 * pods with pods without an author. It must find a leak for a planted mistake that is easy to find,
 * and with `--planted` for each planted mistake.
 *
 *     safe-templates.ts [--count 20000] [--seed 1] [--shards 2] [--show 10] [--planted] [--record]
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeMeasurement } from '../bench/report.ts';
import { noFigures, type Figures } from './safe-templates/figures.ts';
import { missingFunctions } from './safe-templates/functions.ts';
import { mistakenCopy, type PlantedMistake, removeCopies } from './safe-templates/mistaken-copy.ts';
import type { WorkerResult, WorkerTask } from './safe-templates/worker.ts';

/** The folders of the engine. */
const parts = ['api', 'inject', 'routing', 'selection', 'steps', 'template'];

const mistakesFile = new URL('safe-templates/planted-mistakes.json', import.meta.url);
const plantedMistakes = JSON.parse(readFileSync(mistakesFile, 'utf8')) as PlantedMistake[];

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    shards: { type: 'string', default: '2' },
    show: { type: 'string', default: '10' },
    planted: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});
const [count, seed, shards, show] = [values.count, values.seed, values.shards, values.show].map(Number) as [
  number,
  number,
  number,
  number,
];
/** The number of templates within which a planted mistake must cause a leak. */
const enoughForMistakes = 100_000;
const source = path.join(import.meta.dirname, '../src');

/** Runs each task in its own process, `shards` at a time. */
async function runAll(tasks: readonly WorkerTask[]): Promise<WorkerResult[]> {
  const results: WorkerResult[] = [];
  const waiting = [...tasks.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results[next[0]] = await run(next[1]);
  };
  await Promise.all(Array.from({ length: shards }, work));
  return results;
}

async function run(task: WorkerTask): Promise<WorkerResult> {
  const worker = path.join(import.meta.dirname, 'safe-templates/worker.ts');
  const child = spawn(process.execPath, [...process.execArgv, worker, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`a worker exited with ${String(code)}: ${JSON.stringify(task)}`);
  return JSON.parse(output) as WorkerResult;
}

function sum(results: readonly WorkerResult[]): Figures {
  const total = noFigures();
  for (const { figures } of results) {
    for (const name of Object.keys(total) as (keyof Figures)[]) total[name] += figures[name];
  }
  return total;
}

const started = performance.now();
const results = await runAll(
  Array.from({ length: shards }, (_, from) => ({ source, seed, from, to: count, step: shards, show, stop: false })),
);
const seconds = (performance.now() - started) / 1000;
const figures = sum(results);
const leaks = results.reduce((total, result) => total + result.leaks, 0);
const errors = results.flatMap((result) => result.errors);
for (const { index, path: at, author, template } of results.flatMap(({ shown }) => shown).slice(0, show)) {
  console.log(`LEAK seed ${seed}, template ${index}: ${at} for ${author}
${template}
`);
}
for (const error of errors) console.log(`ERROR ${error}`);
const share = (part: number, whole: number): number => Math.round((1000 * part) / Math.max(1, whole)) / 10;
const shares = {
  renderedPercent: share(figures.rendered, figures.templates),
  acceptedPercent: share(figures.sampledAccepted, figures.sampled),
  acceptedAndVisiblePercent: share(figures.sampledVisible, figures.sampled),
};
console.log(
  `${figures.templates} templates, ${figures.pods} pods in ${seconds.toFixed(1)} s (${Math.round(figures.templates / seconds)} templates/s): ${shares.renderedPercent} % render; ` +
    `${figures.forbidden} forbidden differences; ${figures.checked} pods checked, ${figures.refused} refused, ${leaks} leaks; ` +
    `of a sample of ${figures.sampled} pods ${shares.acceptedPercent} % are accepted, ${shares.acceptedAndVisiblePercent} % with the text in a value; ` +
    `${figures.named} pods with a hostile name, owner or spec, ${figures.namedAccepted} accepted`,
);

/** A mistake that leaks in one of the first hundred templates. */
const obvious = 'arguments are not compared';
const chosen = plantedMistakes.filter(({ title }) => values.planted || title === obvious);
const mistakes = chosen.map((mistake, index) => ({
  ...mistake,
  source: mistakenCopy(mistake, index, parts),
}));
let found: WorkerResult[];
try {
  found = await runAll(
    mistakes.map((mistake) => ({
      source: mistake.source,
      baseline: source,
      seed: seed + 1,
      from: 0,
      to: enoughForMistakes,
      step: 1,
      show: 1,
      stop: true,
    })),
  );
} finally {
  removeCopies();
}
for (const [index, { title }] of mistakes.entries()) {
  const { figures: tried, leaks: count, shown } = found[index]!;
  const first = shown[0] === undefined ? '' : `: ${shown[0].path}`;
  console.log(`planted: ${title}: ${count > 0 ? `found after ${tried.templates} templates${first}` : 'NOT found'}`);
}

const checks: [name: string, holds: boolean][] = [
  ['a mistake is planted', mistakes.length > 0],
  ['no template leaks', leaks === 0],
  ['each pod is refused, or injected exactly as without the check', errors.length === 0],
  ['the templates use all functions', missingFunctions().length === 0],
  ['half of the templates render', shares.renderedPercent >= 50],
  // Safe refuses pods whose templates fail without annotations: a twentieth of random templates.
  ['a sixth of the checked pods is accepted with the text in a value', shares.acceptedAndVisiblePercent >= 100 / 6],
  ['some pods are refused, and some names are accepted', figures.refused > 0 && figures.namedAccepted > 0],
  ...mistakes.map(({ title }, index): [string, boolean] => [`a leak is found with: ${title}`, found[index]!.leaks > 0]),
];
for (const [name, holds] of checks) if (!holds) console.log(`FAIL ${name}`);
const failed = checks.filter(([, holds]) => !holds).length;
if (values.record && failed === 0) {
  const planted = mistakes.map(({ title }, index) => ({ title, foundAfterTemplates: found[index]!.figures.templates }));
  writeMeasurement('safe-templates', { seed, seconds: Math.round(seconds), ...figures, ...shares, leaks, planted });
}
console.log(`${checks.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
