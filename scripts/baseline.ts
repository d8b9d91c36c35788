/**
 * What users can see and must not lose by rebuilding: the help of every command, metrics, resource definitions, chart renders, and the sentence of
 * every check of every scenario.
 *
 *     baseline.ts [--record] [LOG…]
 *
 * Compares with scripts/baseline/*.txt; with `--record` it writes them. Checks are read from logs of e2e/run.ts, as far as some are given. A sentence
 * that went for a reason stands in scripts/baseline/gone.txt, with that reason behind `#`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { load } from 'js-yaml';
import { parseObjects } from '../e2e/harness/apply.ts';
import { findHelm } from '../e2e/harness/build.ts';
import { paths } from '../e2e/harness/paths.ts';
import { scenarios } from '../e2e/scenarios.ts';
import { readChart } from '../src/cli/install/chart-files.ts';
import { renderChart } from '../src/cli/install/render-chart.ts';

const root = path.join(import.meta.dirname, '..');
const folder = path.join(import.meta.dirname, 'baseline');
const execute = promisify(execFile);
const {
  values: { record },
  positionals: logs,
} = parseArgs({ allowPositionals: true, options: { record: { type: 'boolean', default: false } } });

/** `injector A B --help` of every command, whole: `generate.ts --check` holds the page to the code. */
function commands(): string[] {
  return readFileSync(path.join(root, 'docs/reference/commands.md'), 'utf8').split('\n');
}

/** Names of metrics. */
function metrics(): string[] {
  const page = readFileSync(path.join(root, 'docs/reference/metrics.md'), 'utf8');
  return [...new Set(page.match(/\b(?:injector|sidecar_injection)_[a-z_]*[a-z]\b/g))].sort();
}

const chartValues: Readonly<Record<string, Record<string, unknown>>> = {
  default: {},
  'one process': { mode: 'all' },
  'restarts and a class': { operator: { restartWorkloads: true, class: 'blue' } },
  'without following pods': { operator: { followPods: false } },
  'without what may exist already': {
    rbac: { create: false },
    owner: { create: false },
    leasePolicy: { create: false },
    webhookPolicy: { create: false },
    serviceAccount: { create: false },
    controller: { serviceAccountName: 'controller' },
    webhook: { serviceAccountName: 'webhook' },
  },
};

/** Value sets of the chart's own, at the ends of their ranges, and what only a comparison with helm is about. */
const comparedValues: Readonly<Record<string, Record<string, unknown>>> = {
  ...chartValues,
  ...Object.fromEntries(
    readdirSync(path.join(paths.chart, 'ci')).map((file) => [
      file,
      load(readFileSync(path.join(paths.chart, 'ci', file), 'utf8')) as Record<string, unknown>,
    ]),
  ),
  'defaults taken away': { runAsUser: null, nodeSelector: { 'kubernetes.io/os': null, pool: 'x' }, tolerations: null },
  'a user of OpenShift': { runAsUser: 1_000_650_000, operator: { extraArgs: ['--x=yes', '--y=: #'] } },
};

/** Digests of resource definitions and of chart renders, which must be those of `helm template`. */
async function manifests(): Promise<string[]> {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const crds = readdirSync(path.join(root, 'crds')).sort();
  const lines = crds.map((file) => `crds/${file} ${digest(readFileSync(path.join(root, 'crds', file), 'utf8'))}`);
  const scratch = mkdtempSync(path.join(tmpdir(), 'injector-baseline-'));
  try {
    const helm = await findHelm((line) => console.log(line));
    const release = { name: 'injector', namespace: 'injector-system', service: 'Helm' };
    for (const [name, values] of Object.entries(comparedValues)) {
      const { objects } = renderChart(readChart(), release, values);
      const file = path.join(scratch, 'values.json');
      writeFileSync(file, JSON.stringify(values));
      const flags = ['--namespace', release.namespace, '--values', file, '--include-crds', '--kube-version', '1.36.3'];
      const { stdout } = await execute(helm, ['template', release.name, paths.chart, ...flags], {
        maxBuffer: 64 << 20,
      });
      assert.deepEqual(objects, parseObjects(stdout), `chart, ${name}: we render something else than helm`);
      if (!Object.hasOwn(chartValues, name)) continue;
      for (const { kind, metadata, ...rest } of objects) {
        lines.push(`chart, ${name}: ${kind} ${metadata.name ?? ''} ${digest(JSON.stringify([metadata, rest]))}`);
      }
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
  return lines;
}

/** Without numbers, words with a digit, and the moments at which somebody was killed: those are of one run. */
function constantPart(sentence: string): string {
  return sentence
    .replaceAll(/[\w-]*\d(?:[\w-]|\.\d)*/g, 'N')
    .replace(/, (?:killed|nobody was killed)[^]*: ended/, ': ended');
}

/** Sentences of checks by scenario. */
function checks(): string[] {
  const known = new Set(scenarios.map(({ name }) => name));
  const found = new Set<string>();
  for (const log of logs) {
    let scenario = '';
    for (const line of readFileSync(log, 'utf8').split('\n')) {
      const [, header] = /^([\w-]+): /.exec(line) ?? [];
      if (header !== undefined && known.has(header)) scenario = header;
      const [, sentence] = /^ {2}ok {2}(.*) \(\d+ ms\)$/.exec(line) ?? [];
      if (sentence !== undefined) found.add(`${scenario}: ${constantPart(sentence)}`);
    }
  }
  return [...found].sort();
}

const parts: Readonly<Record<string, readonly string[]>> = {
  commands: commands(),
  metrics: metrics(),
  manifests: await manifests(),
  ...(logs.length === 0 ? {} : { checks: checks() }),
};

function read(name: string): string[] {
  const file = path.join(folder, `${name}.txt`);
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

const hasGone = existsSync(path.join(folder, 'gone.txt'));
const gone = new Set((hasGone ? read('gone') : []).map((line) => line.split(' # ')[0]!));
let lost = 0;
for (const [name, lines] of Object.entries(parts)) {
  if (record) {
    writeFileSync(path.join(folder, `${name}.txt`), lines.map((line) => `${line}\n`).join(''));
    console.log(`${name}: ${lines.length} lines written`);
    continue;
  }
  const present = new Set(lines);
  const missing = read(name).filter((line) => !present.has(line) && !gone.has(line));
  lost += missing.length;
  for (const line of missing) console.log(`LOST ${name}: ${line}`);
  console.log(`${name}: ${lines.length} lines, ${missing.length} of the baseline lost`);
}
if (lost > 0)
  console.log(
    'bring it back, or write it into scripts/baseline/gone.txt with the reason; for what was changed on purpose, --record',
  );
process.exitCode = lost === 0 ? 0 : 1;
