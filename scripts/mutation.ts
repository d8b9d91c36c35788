/**
 * Tests whether the unit tests kill mutants of the code that mirrors Istio: `mutation.ts [--only
 * TEXT] [--sample N]`. mutation/survivors.json lists harmless survivors by reason. Exits with
 * code 1 if less than 85 % die, a survivor is not listed, or a listed survivor is killed.
 */
import { fork } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { withMutants, type Mutant } from './mutation/mutants.ts';
import type { MutationAnswer, MutationTask } from './mutation/worker.ts';

const targets =
  /^(?:decide|(?:annotations|pod|finish|probes|merge|configuration)\/.*|template-data\/proxy-image|mesh\/.*proxy-config.*|render\/run-templates)\.ts$/;
const [leastPercent, workers] = [85, 2];
/** Timeouts for loading all tests and for one test, in milliseconds. A mutant may loop forever. */
const [loading, oneTest] = [120_000, 15_000];
const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, sample: { type: 'string' } } });
/** The harmless survivors by reason. */
const reasons = JSON.parse(readFileSync(new URL('mutation/survivors.json', import.meta.url), 'utf8')) as Record<
  string,
  string[]
>;
const excused = new Set(Object.values(reasons).flat());
const root = path.join(import.meta.dirname, '..');
const copy = path.join(root, '.build/mutation', String(process.pid));

/** Copies `src` and adds the mutants. */
function plant(): Mutant[] {
  cpSync(path.join(root, 'src'), copy, { recursive: true });
  const mutants: Mutant[] = [];
  for (const file of filesOfEngine()) {
    if (!targets.test(file) || /\.test\.ts$|testdata/.test(file) || !file.includes(values.only)) continue;
    const target = path.join(copy, 'inject', file);
    const made = withMutants(file, readFileSync(target, 'utf8'), mutants.length);
    writeFileSync(target, made.text);
    mutants.push(...made.mutants);
  }
  const step = values.sample === undefined ? 1 : Math.max(1, mutants.length / Number(values.sample));
  return mutants.filter(({ id }) => Math.floor(id / step) !== Math.floor((id - 1) / step));
}

function filesOfEngine(): string[] {
  return readdirSync(path.join(copy, 'inject'), { recursive: true, encoding: 'utf8' }).sort();
}

/** Tries mutants in a process. Starts another process if the first process ends early. */
async function work(task: MutationTask, report: (answer: Exclude<MutationAnswer, 'alive'>) => void): Promise<void> {
  for (const left = [...task.ids]; left.length > 0;) {
    const argument = JSON.stringify({ ...task, ids: left } satisfies MutationTask);
    const child = fork(path.join(import.meta.dirname, 'mutation/worker.ts'), [argument], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const watch = (milliseconds: number): NodeJS.Timeout => setTimeout(() => child.kill('SIGKILL'), milliseconds);
    let [timer, isReady] = [watch(loading), task.fresh];
    child.on('message', (message: MutationAnswer) => {
      clearTimeout(timer);
      [timer, isReady] = [watch(oneTest), true];
      if (message === 'alive') return;
      left.shift();
      report(message);
    });
    const status = await new Promise<number | null>((resolve) => child.on('exit', resolve));
    clearTimeout(timer);
    if (status === 2 || !isReady) throw new Error('the unit tests fail without a mutant, or take too long');
    // The process timed out, or the mutant ended it.
    const id = status === 0 ? undefined : left.shift();
    if (id !== undefined) report({ id, killed: true, files: [] });
  }
}

/** Returns the mutants that no test kills. Tries each survivor again in a separate process. */
async function survivorsOf(mutants: readonly Mutant[]): Promise<Mutant[]> {
  // Random tests take long, and their results vary.
  const names = filesOfEngine().filter((file) => file.endsWith('.test.ts') && !file.includes('properties'));
  // The tests with Istio's results kill most mutants.
  names.sort((one, other) => Number(other.includes('istio-results')) - Number(one.includes('istio-results')));
  const files = names.map((file) => path.join(copy, 'inject', file));
  const again: { id: number; files: readonly string[] }[] = [];
  const shares = Array.from({ length: workers }, (_, share) => share);
  const first = shares.map((share) => {
    const ids = mutants.map(({ id }) => id).filter((_, index) => index % workers === share);
    return work({ files, ids, fresh: false }, (answer) => {
      if (!answer.killed) again.push(answer);
    });
  });
  await Promise.all(first);
  const surviving = new Set<number>();
  const tryNext = async (): Promise<void> => {
    for (let next = again.pop(); next !== undefined; next = again.pop()) {
      const { id, files: reaching } = next;
      surviving.add(id);
      if (reaching.length === 0) continue;
      await work({ files: reaching, ids: [id], fresh: true }, ({ killed }) => killed && surviving.delete(id));
    }
  };
  await Promise.all(shares.map(tryNext));
  return mutants.filter(({ id }) => surviving.has(id));
}

function nameOf({ file, text, mutation }: Mutant): string {
  return `${file}: ${mutation}: ${text}`;
}

try {
  const mutants = plant();
  const survivors = await survivorsOf(mutants);
  const harmful = survivors.filter((mutant) => !excused.has(nameOf(mutant)));
  const lost = new Set(survivors.map(nameOf));
  const stale = [...excused].filter((name) => !lost.has(name) && mutants.some((mutant) => nameOf(mutant) === name));
  for (const file of new Set(mutants.map((mutant) => mutant.file))) {
    const count = (list: readonly Mutant[]): number => list.filter((mutant) => mutant.file === file).length;
    const [all, some] = [count(mutants), count(survivors)];
    console.log(`${file.padEnd(40)} ${all} mutants, ${all - some} killed, ${some} survived`);
  }
  for (const mutant of harmful) console.log(`SURVIVED line ${mutant.line} of ${nameOf(mutant)}`);
  for (const name of stale) console.log(`NO SURVIVOR ${name}`);
  const percent = 100 * (1 - survivors.length / mutants.length);
  console.log(
    `${mutants.length} mutants, ${percent.toFixed(1)} % killed, ${survivors.length - harmful.length} survivors with a reason`,
  );
  console.log(`${mutants.length - harmful.length} passed, ${harmful.length + stale.length} failed`);
  if (percent < leastPercent || harmful.length + stale.length > 0) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true });
}
