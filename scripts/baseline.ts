/**
 * Compares the command help, metrics, CRDs, chart renders, and sentences of scenario checks, which
 * a rewrite must keep, with scripts/baseline/*.txt. `--record` writes these files.
 *
 *     baseline.ts [--record] [LOG…]
 *
 * LOG is a file with output of e2e/run.ts, to compare the sentences of checks. gone.txt lists
 * the lines that were removed on purpose, each with a reason after the last ` # `.
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
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';
import { readChart } from '../src/cli/install/chart-files.ts';
import { renderChart } from '../src/cli/install/render-chart.ts';

const root = path.join(import.meta.dirname, '..');
const folder = path.join(import.meta.dirname, 'baseline');
const execute = promisify(execFile);
const {
  values: { record },
  positionals: logs,
} = parseArgs({ allowPositionals: true, options: { record: { type: 'boolean', default: false } } });

/** Returns the help of all commands, from a page that `generate.ts --check` verifies. */
function commands(): string[] {
  return readFileSync(path.join(root, 'docs/reference/commands.md'), 'utf8').split('\n');
}

/** Returns the names of metrics. */
function metrics(): string[] {
  const page = readFileSync(path.join(root, 'docs/reference/metrics.md'), 'utf8');
  return [...new Set(page.match(/\b(?:injector|sidecar_injection)_[a-z_]*[a-z]\b/g))].sort();
}

/** The value sets of the chart, and further sets for the comparison with helm. */
const comparedValues: Readonly<Record<string, Record<string, unknown>>> = {
  default: {},
  ...Object.fromEntries(
    readdirSync(path.join(paths.chart, 'ci')).map((file) => [
      file,
      load(readFileSync(path.join(paths.chart, 'ci', file), 'utf8')) as Record<string, unknown>,
    ]),
  ),
  'defaults taken away': { runAsUser: null, nodeSelector: { 'kubernetes.io/os': null, pool: 'x' }, tolerations: null },
  'a user of OpenShift': { runAsUser: 1_000_650_000, operator: { extraArgs: ['--x=yes', '--y=: #'] } },
};

/** Returns digests of the CRDs. Also compares our renders of the chart with `helm template`. */
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
      const flags = ['--no-hooks', '--namespace', release.namespace, '--values', file, '--kube-version', '1.36.3'];
      const { stdout } = await execute(helm, ['template', release.name, paths.chart, ...flags], {
        maxBuffer: 64 << 20,
      });
      const isLater = ({ kind }: KubernetesObject): number => Number(kind !== 'CustomResourceDefinition');
      const expected = parseObjects(stdout).sort((one, other) => isLater(one) - isLater(other));
      assert.deepEqual(objects, expected, `chart, ${name}: our render differs from helm's`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
  return lines;
}

/** Removes parts of a sentence that differ between runs: words with a digit, and the kills. */
function constantPart(sentence: string): string {
  return sentence
    .replaceAll(/[\w-]*\d(?:[\w-]|\.\d)*/g, 'N')
    .replace(/, (?:the leader was killed|without a kill)[^]*: it ended/, ': it ended');
}

/** Returns `SCENARIO: SENTENCE` of all checks in the logs. */
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
const gone = new Set((hasGone ? read('gone') : []).map((line) => line.replace(/(.*) # .*/, '$1')));
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
    'restore it, or add it to scripts/baseline/gone.txt with a reason; after deliberate changes, use --record',
  );
process.exitCode = lost === 0 ? 0 : 1;
