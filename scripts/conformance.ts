// Compares the engine with Istio's recorded behaviour: node --import ./scripts/typescript/register.js scripts/conformance.ts DIR [--only PREFIX] [--write] [--hostile COUNT]
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
import { randomCases } from './conformance/random-cases.ts';
import { formatTotals, readPending, runCases, type Report } from './conformance/report.ts';
import { tableCases } from './conformance/table-cases.ts';
import { templateCases } from './conformance/template-cases.ts';
import { templateDifferences } from './conformance/template-differences.ts';
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
    'usage: conformance DIR [--only PREFIX] [--write] [--hostile COUNT]: DIR holds the recorded data; --write writes docs/conformance.md',
  );
  process.exit(2);
}

const classes = [...podDifferences, missingObject, ...templateDifferences];

function* allCases(golden: Golden): Generator<ConformanceCase> {
  const names = readdirSync(golden.directory)
    .filter((name) => golden.exists(`${name}/case.json`))
    .sort();
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
// A part of the rows says nothing of the deliberate differences.
const problems = values.only === '' ? differenceProblems(report) : [];
// Hostile values are no rows: nothing was recorded for them.
if ('hostile'.startsWith(values.only)) {
  const { line, problems: found } = hostileAnnotations(new Golden(directory), Number(values.hostile));
  problems.push(...found);
  console.log(line);
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

/** Every set-up with every pod, through Istio's HTTP handler. */
function* crossCases(golden: Golden): Generator<ConformanceCase> {
  const setups = new Map((golden.json('_cross/setups.json') as Setup[]).map((setup) => [setup.name, setup]));
  const inputs = new Map((golden.lines('_cross/inputs.jsonl.gz') as CrossInput[]).map((input) => [input.id, input]));
  for (const result of golden.lines('_cross/results.jsonl.gz') as CrossResult[]) {
    const setup = setups.get(result.setup);
    const input = inputs.get(result.input);
    if (setup === undefined || input === undefined)
      throw new Error(`_cross: no set-up or input for ${result.setup}, ${result.input}`);
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

/** What is wrong with the deliberate differences themselves: each must explain a row, and those that are not `common` explain one in a hundred at most. */
function differenceProblems(report: Report): string[] {
  const problems = classes
    .filter(({ name }) => !report.differences.has(name))
    .map(({ name }) => `deliberate difference ${name}: explains no row; take it away`);
  const rows = [...report.groups.values()].reduce((sum, group) => sum + group.passed + group.failed + group.pending, 0);
  const common = new Set(podDifferences.filter((difference) => difference.common).map(({ name }) => name));
  const rare = [...report.differences].filter(([name]) => !common.has(name));
  const differing = rare.reduce((sum, [, ids]) => sum + ids.length, 0);
  if (differing * 100 > rows)
    problems.push(`deliberate differences: they explain ${differing} of ${rows} rows, more than 1 %`);
  return problems;
}

/** Writes what the run has found for people to read. */
function writeDocument(path: string, report: Report): void {
  const sections = classes.map(({ name, reason }) => {
    const ids = report.differences.get(name) ?? [];
    return `### ${name}\n\n${reason}\n\nRows: ${ids.length}, e.g. \`${ids[0] ?? ''}\`.\n`;
  });
  const totals = formatTotals(report).map((line) => `    ${line}`);
  const text = [
    '# Conformance with Istio',
    '',
    'Written by `npm run conformance -- ../shared/golden --write`; do not edit. The run compares the engine with what Istio’s injector did',
    'to the same inputs: pods, not patches (the order of Istio’s operations is random), and of denials the first line.',
    '',
    '## Totals',
    '',
    ...totals,
    '',
    '## Where we differ on purpose',
    '',
    ...sections,
  ].join('\n');
  writeFileSync(path, text);
}
