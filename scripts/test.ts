/**
 * Runs the steps of `make test` (five minutes); with `--all` all steps (`make test-all`);
 * with `--rest` the steps that `make test` lacks; with `--without-cluster` those that need no Go.
 * Prints a line per step, the ten slowest, and the totals. The output of each step, and the wall
 * and CPU seconds of all steps, scenarios and test files (accounts.jsonl), go to .build/test.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { readAccounts } from './test/account.ts';
import { compareWithBudget, type CpuBudget } from './test/cpu-budget.ts';
import { runStages, type Stage, type Step } from './test/run-stages.ts';

const typescript = ['node', ...process.execArgv];
type Kind = Pick<Step, 'needsGo' | 'live'>;
const one = (name: string, command: string[], kind: Kind = {}): Step => ({ name, command, counts: 'one', ...kind });
const summary = (name: string, command: string[], kind: Kind = {}): Step => ({
  ...{ name, command: [...typescript, ...command], counts: 'summary' },
  ...kind,
});
const [needsGo, live] = [{ needsGo: true }, { needsGo: true, live: true }] as const;

/** Checks that only read the source; the subjects are those of commits after the rule was added. */
const source: Step[] = [
  one('control plane', [...typescript, 'e2e/harness/build.ts'], live),
  one('types and lint', [...typescript, 'scripts/lint.ts']),
  one('documents', ['npm', 'run', '--silent', 'lint:documents']),
  one('commit subjects', [
    ...['bash', '-c'],
    "! git log --since=2026-11-25T00:00:00Z --format='%h %s' | grep -E '^[^ ]+ .{73}'",
  ]),
  one('format', ['npx', 'prettier', '--check', '--log-level', 'warn', '.']),
  one('layers', ['npm', 'run', '--silent', 'layers']),
  one('dead code', ['npx', 'knip']),
  one('budget', [...typescript, 'scripts/budget.ts']),
  one('walks', [...typescript, 'scripts/walks.ts']),
  one('generated files', [...typescript, 'scripts/generate.ts', '--check']),
  one('bundle', [...typescript, 'scripts/build.ts']),
];
// Half of the tests wait for a process, thread or timer, so four jobs keep two cores busy.
const mocha = ['npx', 'c8', 'mocha', '--parallel', '--jobs', '4', '--reporter', 'spec'];
const unit: Step = { name: 'unit', command: mocha, counts: 'mocha' };
/** Scenarios for features of the API server: CRD rules, selection, policies, apply. */
const ofApiServer = ['resource-validation', 'label-truth-table', 'roles'];
const emulated = (version: string, program: string, scenarios = ofApiServer, ...settings: string[]): Step => {
  const command = [program, '--queues', '1', ...scenarios];
  const named = summary(`as Kubernetes ${version}, ${scenarios.length} scenarios`, command, needsGo);
  return { ...named, command: ['env', `KUBERNETES_EMULATED=${version}`, ...settings, ...named.command] };
};
const golden = process.env['GOLDEN'] ?? '';
/** Steps with one thread each, which run beside scenarios. */
const beside: Step[] = [
  // Makes a release twice. npm, kubectl, krew and helm use its files.
  summary('release', ['packaging/check-release.ts'], needsGo),
  // The image's Node, and the oldest version that the API server emulates (docs/upgrade.md).
  emulated('1.33', 'packaging/image-node.ts'),
  emulated('1.34', 'e2e/run.ts'),
  // Before 1.36, administrators can enable the policies of Hold only as v1beta1.
  emulated('1.35', 'e2e/run.ts', [...ofApiServer, 'hold-killed'], 'KUBERNETES_POLICIES=v1beta1'),
  // The unit tests replay recorded results; these three compare new ones with real Go.
  one('templates against Go', [...typescript, 'scripts/template-differential.ts', '--count=5000', '--seed=7'], needsGo),
  summary('pods against Istio', ['scripts/istio-differential.ts', '--count=10000', '--seed=7'], needsGo),
  summary('files against kubectl', ['scripts/file-differential.ts', '--count=2000', '--seed=7'], needsGo),
  ...(golden ? [summary('conformance', ['--max-semi-space-size=64', 'scripts/conformance.ts', golden], needsGo)] : []),
  summary('hostile annotations', ['scripts/hostile-annotations.ts']),
  summary('safe templates', ['scripts/safe-templates.ts', '--count=8000']),
  summary('linear time', ['scripts/linear-time.ts']),
  summary('bills of materials', ['packaging/check-sboms.ts']),
  summary('completion', ['scripts/completion.ts']),
  one('HTML report', [...typescript, 'scripts/html-report/check.ts']),
  one('playground', [...typescript, 'scripts/playground/check.ts']),
  one('site', [...typescript, 'scripts/site.ts']),
  summary('workflows', ['packaging/check-workflows.ts'], needsGo),
  // Needs helm. If helm is not on the PATH, compiling it takes minutes.
  one('baseline', [...typescript, 'scripts/baseline.ts'], needsGo),
];
const run = (name: string, ...flags: string[]): Step => summary(name, ['e2e/run.ts', ...flags], live);
const ofTest: Stage[] = [[[unit], source], [[run('core scenarios', '--core')]]];
const ofRest: Stage[] = [
  [[run('other scenarios', '--rest', '--beside')], beside],
  // Nothing may run beside scenarios that judge milliseconds.
  [[run('scenarios that run alone', '--rest', '--alone')]],
];

const [withoutCluster, all, rest] = ['--without-cluster', '--all', '--rest'].map((flag) => process.argv.includes(flag));
const bundle = source.filter(({ name }) => name === 'bundle');
const chosen = rest ? [[bundle], ...ofRest] : all || withoutCluster ? [...ofTest, ...ofRest] : ofTest;
const stages = chosen.map((lists) =>
  lists.map((steps) => steps.filter((step) => !withoutCluster || step.needsGo === undefined)),
);
const logs = path.resolve('.build/test');
const accounts = path.join(logs, 'accounts.jsonl');
mkdirSync(logs, { recursive: true });
// `make test-rest` adds to the accounts of `make test`.
if (!rest) rmSync(accounts, { force: true });
const { cpuSeconds: budget } = JSON.parse(readFileSync('scripts/budget.json', 'utf8')) as { cpuSeconds: CpuBudget };
const started = Date.now();
const total = await runStages(stages, { logs, accounts });

const names = new Set(stages.flat(2).map(({ name }) => name));
const taken = readAccounts(accounts).filter(({ name, step = name }) => names.has(step));
const { lines, failed } = compareWithBudget(taken, budget);
for (const line of lines) console.log(line);
if (process.env['CI'] === 'true') total.failed += failed;
console.log(`the slowest ten (all of them: ${path.relative('.', accounts)}):`);
for (const { kind, name, seconds, cpuSeconds = NaN } of taken.sort((a, b) => b.seconds - a.seconds).slice(0, 10))
  console.log(`${seconds.toFixed(1).padStart(8)} s ${cpuSeconds.toFixed(1).padStart(8)} CPU s  ${kind} ${name}`);
console.log(`it took ${((Date.now() - started) / 1000).toFixed(0)} s`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
