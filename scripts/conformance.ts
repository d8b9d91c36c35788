// Compares the engine with Istio's recorded behaviour: `npm run conformance -- DIR [FLAGS]`.
import { readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { load } from 'js-yaml';
import type { ProxyConfigResource } from '../src/inject/injection-request.ts';
import type { JsonObject } from '../src/inject/patch/json-value.ts';
import type { ConformanceCase } from './conformance/conformance-case.ts';
import { podDifferences } from './conformance/differences.ts';
import { Golden, type Setting } from './conformance/golden.ts';
import { hostileAnnotations } from './conformance/hostile-annotations.ts';
import { httpCases, missingObject } from './conformance/http-cases.ts';
import { kubeInjectCases } from './conformance/kube-inject-cases.ts';
import { lintedConfigurations } from './conformance/lint-cases.ts';
import { randomCases } from './conformance/random-cases.ts';
import { formatTotals, readPending, runCases, type Report } from './conformance/report.ts';
import { tableCases } from './conformance/table-cases.ts';
import { templateCases } from './conformance/template-cases.ts';
import { templateDifferences } from './conformance/template-differences.ts';
import { uninjectRows } from './conformance/uninject-cases.ts';
import { compareAnswer, requestFor, webhookCases, type WebhookAnswer } from './conformance/webhook-cases.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    hostile: { type: 'string', default: '100000' },
  },
});
const [directory] = positionals;
if (directory === undefined) {
  console.error(
    'usage: conformance DIR [--only PREFIX] [--write] [--hostile COUNT]: DIR contains the recorded data; --write writes docs/conformance.md',
  );
  process.exit(2);
}

const classes = [...podDifferences, missingObject, ...templateDifferences];

function caseNames(golden: Golden): string[] {
  const names = readdirSync(golden.directory);
  return names.filter((name) => golden.exists(`${name}/case.json`)).sort();
}

function* allCases(golden: Golden): Generator<ConformanceCase> {
  const names = caseNames(golden);
  yield* webhookCases(golden, names);
  yield* kubeInjectCases(golden, names);
  yield* tableCases(golden);
  yield* httpCases(golden);
  yield* templateCases(golden);
  yield* crossCases(golden);
  yield* randomCases(golden);
}

function* chosen(cases: Iterable<ConformanceCase>): Generator<ConformanceCase> {
  for (const entry of cases) if (entry.id.startsWith(values.only)) yield entry;
}

const report = runCases(chosen(allCases(new Golden(directory))), readPending('.ci/conformance-pending.txt'));
// Only a full run can check the deliberate differences.
const problems = values.only === '' ? differenceProblems(report) : [];
// The hostile values are not cases, because they have no recorded rows.
if ('hostile'.startsWith(values.only)) {
  const { line, problems: found } = hostileAnnotations(new Golden(directory), Number(values.hostile));
  problems.push(...found);
  console.log(line);
}
if ('lint'.startsWith(values.only)) {
  const golden = new Golden(directory);
  const { line, problems: found } = lintedConfigurations(golden, caseNames(golden));
  problems.push(...found);
  console.log(line);
}
if ('uninject'.startsWith(values.only)) {
  const golden = new Golden(directory);
  const { lines, problems: found } = uninjectRows(golden, caseNames(golden));
  problems.push(...found);
  for (const line of lines) console.log(line);
}
for (const line of [...report.lines, ...problems, ...formatTotals(report)]) console.log(line);
if (problems.length > 0 || [...report.groups.values()].some(({ failed }) => failed > 0)) process.exitCode = 1;
if (values.write && values.only === '') writeDocument('docs/conformance.md', report);

interface Setup extends Setting {
  readonly name: string;
  readonly path: string;
  readonly webhookRevision: string;
  readonly proxyConfigCRs?: string;
}

interface CrossInput {
  readonly id: string;
  readonly pod: JsonObject;
  readonly namespace: string;
}

interface CrossResult extends WebhookAnswer {
  readonly setup: string;
  readonly input: string;
}

/** Returns the cases of every set-up with every pod, recorded through Istio's HTTP handler. */
function* crossCases(golden: Golden): Generator<ConformanceCase> {
  const setups = new Map((golden.json('_cross/setups.json') as Setup[]).map((setup) => [setup.name, setup]));
  const inputs = new Map((golden.lines('_cross/inputs.jsonl.gz') as CrossInput[]).map((input) => [input.id, input]));
  for (const result of golden.lines('_cross/results.jsonl.gz') as CrossResult[]) {
    const setup = setups.get(result.setup);
    const input = inputs.get(result.input);
    if (setup === undefined || input === undefined)
      throw new Error(`_cross: set-up ${result.setup} or input ${result.input} is missing`);
    const id = `_cross/${result.setup}/${result.input}`;
    yield {
      id,
      group: `cross/${result.setup}`,
      run: () => {
        const resources =
          setup.proxyConfigCRs === undefined ? undefined : (load(setup.proxyConfigCRs) as ProxyConfigResource[]);
        const request = requestFor(setup, input.pod, input.namespace, setup.path, resources);
        return compareAnswer(golden.injector(setup, setup.webhookRevision, 'Webhook'), request, result, setup);
      },
    };
  }
}

/** Checks that each difference explains a row, and all uncommon differences at most 1 % of rows. */
function differenceProblems(report: Report): string[] {
  const problems = classes
    .filter(({ name }) => !report.differences.has(name))
    .map(({ name }) => `deliberate difference ${name} explains no row: remove it`);
  const rows = [...report.groups.values()].reduce((sum, group) => sum + group.passed + group.failed + group.pending, 0);
  const common = new Set(podDifferences.filter((difference) => difference.common).map(({ name }) => name));
  const rare = [...report.differences].filter(([name]) => !common.has(name));
  const differing = rare.reduce((sum, [, ids]) => sum + ids.length, 0);
  if (differing * 100 > rows)
    problems.push(`deliberate differences explain ${differing} of ${rows} rows, more than 1 %`);
  return problems;
}

/** Writes the results of the run as a Markdown page. */
function writeDocument(path: string, report: Report): void {
  const sections = classes.map(({ name, reason }) => {
    const ids = report.differences.get(name) ?? [];
    return `### ${name}\n\n${reason}\n\nRows: ${ids.length}, e.g. \`${ids[0] ?? ''}\`.\n`;
  });
  const totals = formatTotals(report).map((line) => `    ${line}`);
  const text = [
    '# Conformance with Istio',
    '',
    'Generated by `npm run conformance -- ../shared/golden --write`; do not edit. The run compares the results of the engine',
    'with recorded results of Istio’s injector for the same inputs. It compares pods instead of patches, because the order of',
    'Istio’s operations is random. Of denials, it compares the first line.',
    '',
    '## Totals',
    '',
    ...totals,
    '',
    '## Deliberate differences',
    '',
    ...sections,
  ].join('\n');
  writeFileSync(path, text);
}
