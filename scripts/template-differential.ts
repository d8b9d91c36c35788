/**
 * Compares src/template with Go's text/template and sprig. Outputs must match, or both must fail.
 *
 *     template-differential.ts [--count 100000] [--seed 1] [--show 20] [--record FILE]
 *
 * Builds scripts/template-recorder (Go), renders templates with both, and prints the differences
 * and coverage. Exits with code 1 if any differ. `--record` writes Go's results for the unit tests.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { functionsOfFamily } from '../src/template/functions/go/function-families.ts';
import { compileTemplate } from '../src/template/template.ts';
import { TemplateError } from '../src/template/template-error.ts';
import { garage } from '../src/template/testdata/garage-type.ts';
import { steady } from '../src/template/testdata/go-results.ts';
import { Coverage } from './template-recorder/coverage.ts';
import { curated } from './template-recorder/curated.ts';
import { documents, isTyped } from './template-recorder/data.ts';
import { randomCases, systematic } from './template-recorder/generator.ts';
import type { TemplateCase } from './template-recorder/generator.ts';
import { Random } from './template-recorder/random.ts';

/** The maximum size of an output, equal to the recorder's limit (`largest` in main.go). */
const mostBytes = 64 * 1024 * 1024;

interface GoResult {
  readonly out?: string;
  readonly error?: string;
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '20' },
    record: { type: 'string' },
  },
});
/** The maximum length of a recorded row, in characters. */
const longestRow = 1200;
/** The exit status of the recorder if a template takes too long. */
const timeoutStatus = 3;
const recorderFolder = path.join(import.meta.dirname, 'template-recorder');
const functionTables = {
  builtin: functionsOfFamily('builtin'),
  sprig: functionsOfFamily('sprig'),
  istio: functionsOfFamily('istio'),
};

/** Returns curated cases, then systematic cases (half of `count`), then random cases. */
function generate(count: number, seed: number): TemplateCase[] {
  const random = new Random(seed);
  const all = [...systematic(random)];
  // A small count takes a part of the systematic cases, spread over all functions.
  const step = Math.max(1, all.length / (count / 2));
  const chosen = Array.from({ length: Math.floor(all.length / step) }, (_, index) => all[Math.floor(index * step)]!);
  const cases = [...curated, ...chosen];
  const seen = new Set<string>();
  for (const one of randomCases(random)) {
    if (cases.length >= count) break;
    const key = JSON.stringify(one);
    if (!seen.has(key)) cases.push(one);
    seen.add(key);
  }
  return cases;
}

function renderOurs(one: TemplateCase): GoResult {
  const data = structuredClone(documents[one.document]);
  try {
    const template = compileTemplate(one.template, {
      name: 't',
      functions: functionTables[one.functions],
      ...(one.delimiters === undefined ? {} : { delimiters: one.delimiters }),
      ...(one.missingKey === undefined ? {} : { missingKey: one.missingKey }),
    });
    return {
      out: template.execute(isTyped(one.document) ? garage(data) : data, { steps: 30_000_000, outputBytes: mostBytes }),
    };
  } catch (error) {
    if (error instanceof TemplateError) return { error: error.message };
    throw new Error(`not a TemplateError for ${JSON.stringify(one)}`, { cause: error });
  }
}

function comparable({ document }: TemplateCase, text: string | undefined): string | undefined {
  return isTyped(document) && text !== undefined ? steady(text) : text;
}

/**
 * Detects the only known deviation: in Go, `slice` may reach beyond the end of a list into the
 * list's spare capacity, which depends on how Go made the list.
 */
function isSpareCapacity(go: GoResult, ours: GoResult): boolean {
  return go.error === undefined && /slice index out of bounds|index out of range: [0-9]+$/.test(ours.error ?? '');
}

function buildRecorder(folder: string): string {
  const binary = path.join(folder, 'recorder');
  const build = spawnSync('go', ['build', '-o', binary, '.'], { cwd: recorderFolder, stdio: 'inherit' });
  if (build.status !== 0) throw new Error('go build of scripts/template-recorder failed');
  return binary;
}

/** Returns Go's results in order. If a template ends the process, another process continues. */
async function* goResults(cases: readonly TemplateCase[], binary: string): AsyncGenerator<GoResult> {
  for (let next = 0; next < cases.length;) {
    // The local zone is UTC, as in Istio's container.
    const go = spawn(binary, [], { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, TZ: 'UTC' } });
    // Writing to an exited process fails; the next process gets the remaining cases.
    go.stdin.on('error', () => undefined);
    const ended = once(go, 'exit') as Promise<[number | null]>;
    const fed = feed(cases.slice(next), go.stdin);
    for await (const line of createInterface({ input: go.stdout })) {
      next += 1;
      yield JSON.parse(line) as GoResult;
    }
    const [status] = await ended;
    // A map that contains itself overflows Go's stack and ends the process.
    if (status !== 0 && status !== timeoutStatus) {
      next += 1;
      yield { error: `Go exited with ${String(status)}` };
    }
    go.stdin.destroy();
    await fed;
  }
}

async function feed(cases: readonly TemplateCase[], input: Writable): Promise<void> {
  for (const { template, document, functions, missingKey, delimiters } of cases) {
    const line = { template, data: documents[document], typed: isTyped(document), functions, missingKey, delimiters };
    if (!input.write(`${JSON.stringify(line)}\n`)) await drained(input);
    if (input.destroyed) return;
  }
  input.end();
}

/** Waits until the stream accepts more data, or closes. */
async function drained(stream: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      stream.off('drain', finish);
      stream.off('close', finish);
      resolve();
    };
    stream.on('drain', finish);
    stream.on('close', finish);
  });
}

async function compareAll(cases: readonly TemplateCase[], binary: string): Promise<void> {
  const results = goResults(cases, binary);
  const coverage = new Coverage();
  const recorded: string[] = [];
  let differing = 0;
  let sameMessage = 0;
  let spareCapacity = 0;
  for (const one of cases) {
    const go = (await results.next()).value as GoResult;
    const ours = renderOurs(one);
    coverage.add(one, go.error !== undefined);
    if (go.error !== undefined && go.error === ours.error) sameMessage += 1;
    const same =
      go.error === undefined ? comparable(one, go.out) === comparable(one, ours.out) : ours.error !== undefined;
    if (!same && isSpareCapacity(go, ours)) {
      spareCapacity += 1;
      continue;
    }
    if (!same) {
      differing += 1;
      if (differing <= Number(values.show)) {
        console.log(
          `${JSON.stringify(one.template)} (${one.document}, ${one.functions}, ${one.missingKey ?? 'default'})`,
        );
        console.log(
          `    Go   ${go.error ?? JSON.stringify(go.out)}\n    ours ${ours.error ?? JSON.stringify(ours.out)}`,
        );
      }
    }
    recorded.push(
      JSON.stringify({
        ...one,
        covers: undefined,
        out: go.error === undefined ? comparable(one, go.out) : undefined,
      }),
    );
  }
  console.log(`seed ${values.seed}: ${coverage.summary()}`);
  console.log(
    `${differing} of ${cases.length} differ; ${sameMessage} failures have exactly Go's message; ${spareCapacity} reach into a list's spare capacity`,
  );
  if (values.record !== undefined) {
    // Long outputs show nothing that short outputs do not show.
    const table = [...new Set(recorded)].filter((row) => row.length < longestRow);
    const text = `{"documents":${JSON.stringify(documents)},\n"rows":[\n${table.join(',\n')}\n]}\n`;
    writeFileSync(values.record, text);
    console.log(`${table.length} rows recorded`);
  }
  if (differing > 0 || !coverage.isComplete(cases.length)) process.exitCode = 1;
}

const folder = mkdtempSync(path.join(tmpdir(), 'template-differential-'));
try {
  await compareAll(generate(Number(values.count), Number(values.seed)), buildRecorder(folder));
} finally {
  rmSync(folder, { recursive: true });
}
