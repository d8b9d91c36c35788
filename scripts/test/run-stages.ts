import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { account } from './account.ts';

export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** How to count checks: one per step, mocha's summary, or the last `N passed, N failed`. */
  readonly counts: 'one' | 'mocha' | 'summary';
  /** Whether the step needs Go, a cluster or its programs. `make check` omits these steps. */
  readonly needsGo?: true;
  /** Whether the output appears while the step runs. */
  readonly live?: true;
}

/** Lists of steps that run at the same time, the steps of a list one after another. */
export type Stage = readonly (readonly Step[])[];

export interface Counted {
  passed: number;
  failed: number;
}

/** Where logs and accounts go. */
export interface Files {
  readonly logs: string;
  readonly accounts: string;
}

/**
 * Runs the stages one after another, and prints a line per step. The output of a step goes to
 * LOGS/STEP.log, and is printed if the step fails. Returns the numbers of checks.
 */
export async function runStages(stages: readonly Stage[], files: Files): Promise<Counted> {
  const total = { passed: 0, failed: 0 };
  const runList = async (steps: readonly Step[]): Promise<void> => {
    for (const step of steps) {
      const { passed, failed } = await runStep(step, files);
      total.passed += passed;
      total.failed += failed;
    }
  };
  for (const stage of stages) await Promise.all(stage.map(runList));
  return total;
}

/** Prints the CPU seconds of the command with all processes that it started, to descriptor 3. */
const timed = '"$@" 3>&-; code=$?; times >&3; exit $code';

async function runStep(step: Step, { logs, accounts }: Files): Promise<Counted> {
  const started = Date.now();
  const file = `${logs}/${step.name.replaceAll(' ', '-')}.log`;
  const log = createWriteStream(file);
  // A group of its own, so that a signal reaches the command and not only the shell.
  const child = spawn('sh', ['-c', timed, 'sh', ...step.command], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, TEST_ACCOUNT: accounts, TEST_STEP: step.name },
  });
  const { stdout, stderr, pid } = child;
  for (const stream of [stdout, stderr] as Readable[]) {
    stream.on('data', (chunk: Buffer) => {
      log.write(chunk);
      if (step.live === true) process.stdout.write(chunk);
    });
  }
  const times = text(child.stdio[3] as Readable);
  const stop = (signal: NodeJS.Signals): void => {
    if (pid !== undefined) process.kill(-pid, signal);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const code = await new Promise<number>((resolve) => {
    child.on('close', (status) => {
      resolve(status ?? 1);
    });
  });
  process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
  await new Promise((resolve) => log.end(resolve));
  const output = readFileSync(file, 'utf8');
  const counted = countResults(step.counts, output, code);
  const seconds = (Date.now() - started) / 1000;
  const cpuSeconds = parseTimes(await times);
  account({ kind: 'step', name: step.name, seconds, cpuSeconds }, accounts);
  const figures = step.counts === 'one' ? '' : `, ${counted.passed} passed`;
  const took = `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} CPU s`;
  if (counted.failed === 0) {
    console.log(`ok    ${step.name} (${took}${figures})`);
    return counted;
  }
  if (step.live !== true) console.log(output.split('\n').slice(-60).join('\n'));
  console.log(`FAIL  ${step.name} (${took}, ${counted.failed} failed; output in ${file})`);
  return counted;
}

/** Returns the CPU seconds in the second line of the output of `times`, as in `1m2.50s 0m0.40s`. */
function parseTimes(output: string): number {
  const ofChildren = [...(output.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  return ofChildren.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

/**
 * Returns the numbers of checks from a step's output. Counts at least one failure if the step exits
 * with a status other than 0, or prints no figures although it should.
 */
function countResults(counts: Step['counts'], output: string, exitCode: number): Counted {
  if (counts === 'one') return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  const passed = last(output, counts === 'mocha' ? /^\s*(\d+) passing\b/gm : /^(\d+) passed, \d+ failed/gm);
  const failed = last(output, counts === 'mocha' ? /^\s*(\d+) failing\b/gm : /^\d+ passed, (\d+) failed/gm) ?? 0;
  if (passed === undefined) return { passed: 0, failed: Math.max(failed, 1) };
  return { passed, failed: exitCode === 0 ? failed : Math.max(failed, 1) };
}

function last(output: string, pattern: RegExp): number | undefined {
  const match = [...output.matchAll(pattern)].at(-1);
  return match === undefined ? undefined : Number(match[1]);
}
