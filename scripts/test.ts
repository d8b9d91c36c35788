/**
 * Runs the steps of `make test` (at most ten minutes); with `--all` all steps (`make test-all`);
 * with `--rest` the steps that `make test` lacks. Prints one line per step, the ten slowest, and
 * the totals. A step's output goes to .build/test/STEP.log, and is printed if the step fails.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

interface Counted {
  passed: number;
  failed: number;
}

/**
 * Returns the numbers of checks from a step's output. Counts at least one failure if the step exits
 * with a status other than 0, or prints no figures although it should.
 */
function countResults(counts: 'one' | 'mocha' | 'summary', output: string, exitCode: number): Counted {
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

interface Step {
  name: string;
  command: string[];
  /** Whether only `make test-all` runs the step. */
  rest?: boolean;
  /** How to count checks: one per step, mocha's summary, or the last `N passed, N failed`. */
  counts: 'one' | 'mocha' | 'summary';
  needsGo?: true;
}

const typescript = ['node', ...process.execArgv];
/** Compiles the control plane during the single-threaded checks. */
const build: Step = {
  name: 'control plane',
  command: [...typescript, 'e2e/harness/build.ts'],
  counts: 'one',
  needsGo: true,
};
/** Checks that only read the source. They run on the second core, beside the unit tests. */
const reading: Step[] = [
  { name: 'types', command: ['npx', 'tsc', '--noEmit'], counts: 'one' },
  { name: 'lint', command: ['npx', 'eslint', '.'], counts: 'one' },
  { name: 'documents', command: ['npm', 'run', '--silent', 'lint:documents'], counts: 'one' },
  {
    // At most 72 characters, for commits after this rule was added.
    name: 'commit subjects',
    command: ['bash', '-c', "! git log --since=2026-11-25T00:00:00Z --format='%h %s' | grep -E '^[^ ]+ .{73}'"],
    counts: 'one',
  },
  { name: 'format', command: ['npx', 'prettier', '--check', '--log-level', 'warn', '.'], counts: 'one' },
  { name: 'layers', command: ['npx', 'depcruise', '--config', '.dependency-cruiser.cjs', 'src'], counts: 'one' },
  { name: 'dead code', command: ['npx', 'knip'], counts: 'one' },
  { name: 'budget', command: [...typescript, 'scripts/budget.ts'], counts: 'one' },
  { name: 'walks', command: [...typescript, 'scripts/walks.ts'], counts: 'one' },
  { name: 'generated files', command: [...typescript, 'scripts/generate.ts', '--check'], counts: 'one' },
];
const apiDependent = ['resource-validation', 'label-truth-table', 'roles'];
const steps: Step[] = [
  // Half of the tests wait for a process, thread or timer, so four jobs keep two cores busy.
  { name: 'unit', command: ['npx', 'c8', 'mocha', '--parallel', '--jobs', '4', '--reporter', 'spec'], counts: 'mocha' },
  {
    // Compares new templates with real Go. The unit tests replay recorded results.
    name: 'templates against Go',
    command: [...typescript, 'scripts/template-differential.ts', '--count=5000', '--seed=7'],
    counts: 'one',
    needsGo: true,
    rest: true,
  },
  {
    name: 'pods against Istio',
    command: [...typescript, 'scripts/istio-differential.ts', '--count=10000', '--seed=7'],
    counts: 'summary',
    needsGo: true,
    rest: true,
  },
  {
    name: 'hostile annotations',
    command: [...typescript, 'scripts/hostile-annotations.ts'],
    counts: 'summary',
    rest: true,
  },
  {
    // Runs two processes. `make gates` runs 1,000,000 templates.
    name: 'safe templates',
    command: [...typescript, 'scripts/safe-templates.ts', '--count=8000', '--planted'],
    counts: 'summary',
    rest: true,
  },
  { name: 'linear time', command: [...typescript, 'scripts/linear-time.ts'], counts: 'summary', rest: true },
  { name: 'bundle', command: [...typescript, 'scripts/build.ts'], counts: 'one' },
  { name: 'bills of materials', command: [...typescript, 'packaging/check-sboms.ts'], counts: 'summary', rest: true },
  { name: 'completion', command: [...typescript, 'scripts/completion.ts'], counts: 'summary', rest: true },
  { name: 'HTML report', command: [...typescript, 'scripts/html-report/check.ts'], counts: 'one', rest: true },
  // Makes a release twice. npm, kubectl, krew and helm use its files.
  {
    name: 'release',
    command: [...typescript, 'packaging/check-release.ts'],
    counts: 'summary',
    needsGo: true,
    rest: true,
  },
  {
    name: 'workflows',
    command: [...typescript, 'packaging/check-workflows.ts'],
    counts: 'summary',
    needsGo: true,
    rest: true,
  },
  {
    // Runs the first command of the README on a separate cluster.
    name: 'demo',
    command: ['env', '-u', 'CLUSTER', '-u', 'KEEP', ...typescript, 'e2e/demo.ts'],
    counts: 'one',
    needsGo: true,
    rest: true,
  },
  {
    // Needs helm. If helm is not on the PATH, compiling it takes minutes.
    name: 'baseline',
    command: [...typescript, 'scripts/baseline.ts'],
    counts: 'one',
    needsGo: true,
    rest: true,
  },
  { name: 'core scenarios', command: [...typescript, 'e2e/run.ts', '--core'], counts: 'summary', needsGo: true },
  {
    // Uses the image's Node, and the oldest version that the API server emulates (docs/upgrade.md).
    name: 'image node and Kubernetes 1.33, core scenarios',
    command: ['env', 'KUBERNETES_EMULATED=1.33', ...typescript, 'packaging/image-node.ts'],
    counts: 'summary',
    needsGo: true,
    rest: true,
  },
  ...['1.34', '1.35'].map((version): Step => ({
    // For features of the API server: CRD rules, selection, admission policies, server-side apply.
    name: `as Kubernetes ${version}, three scenarios`,
    command: ['env', `KUBERNETES_EMULATED=${version}`, ...typescript, 'e2e/run.ts', ...apiDependent],
    counts: 'summary',
    needsGo: true,
    rest: true,
  })),
  {
    name: 'other scenarios',
    command: [...typescript, 'e2e/run.ts', '--rest'],
    counts: 'summary',
    needsGo: true,
    rest: true,
  },
];

const logs = '.build/test';
mkdirSync(logs, { recursive: true });
const [withoutCluster, all, onlyRest] = ['--without-cluster', '--all', '--rest'].map((flag) =>
  process.argv.includes(flag),
);
/** The durations of steps, scenarios and unit tests, in seconds. */
const durations: [name: string, seconds: number][] = [];
const total: Counted = { passed: 0, failed: 0 };

async function run(step: Step): Promise<void> {
  const started = Date.now();
  const file = `${logs}/${step.name.replaceAll(' ', '-')}.log`;
  const log = createWriteStream(file);
  const live = step.name.endsWith('scenarios') || step.name === 'control plane';
  const [program, ...args] = step.command;
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log.write(chunk);
      if (live) process.stdout.write(chunk);
    });
  }
  const stop = (signal: NodeJS.Signals) => child.kill(signal);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const code = await new Promise<number>((resolve) => {
    child.on('error', (error) => {
      log.write(String(error));
      resolve(127);
    });
    child.on('close', (status) => {
      resolve(status ?? 1);
    });
  });
  process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
  await new Promise((resolve) => log.end(resolve));
  const output = readFileSync(file, 'utf8');
  const counted = countResults(step.counts, output, code);
  total.passed += counted.passed;
  total.failed += counted.failed;
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  durations.push([step.name, Number(seconds)]);
  for (const [, scenario, took] of output.matchAll(/^([\w-]+): \d+ checks in ([\d.]+) s/gm)) {
    durations.push([`scenario ${scenario!}`, Number(took)]);
  }
  for (const [, test, took] of output.matchAll(/^ +✔ (.*) \((\d+)ms\)$/gm)) {
    durations.push([`unit test ${test!}`, Number(took) / 1000]);
  }
  const figures = step.counts === 'one' ? '' : `, ${counted.passed} passed`;
  if (counted.failed === 0) {
    console.log(`ok    ${step.name} (${seconds} s${figures})`);
    return;
  }
  if (!live) console.log(output.split('\n').slice(-60).join('\n'));
  console.log(`FAIL  ${step.name} (${seconds} s, ${counted.failed} failed; output in ${file})`);
}

async function oneByOne(some: readonly Step[]): Promise<void> {
  for (const step of some) await run(step);
}

const started = Date.now();
const isSelected = ({ rest = false, name }: Step): boolean => {
  if (withoutCluster && name.endsWith('scenarios')) return false;
  return onlyRest ? rest || name === 'bundle' : all || withoutCluster || !rest;
};
const compiled = withoutCluster ? undefined : run(build);
const read = onlyRest ? undefined : oneByOne(reading);
for (const step of steps.filter(isSelected)) {
  if (step.needsGo) {
    if (withoutCluster) continue;
    // Wait, so that the other checks do not disturb measurements.
    await Promise.all([compiled, read]);
  }
  await run(step);
}
await Promise.all([compiled, read]);
const slowest = durations
  .sort(([, one], [, other]) => other - one)
  .slice(0, 10)
  .map(([name, seconds]) => `${seconds.toFixed(1).padStart(8)} s  ${name}`);
writeFileSync(`${logs}/slowest.txt`, `${slowest.join('\n')}\n`);
console.log(`the slowest ten (${logs}/slowest.txt):\n${slowest.join('\n')}`);
console.log(`it took ${((Date.now() - started) / 1000).toFixed(0)} s`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
