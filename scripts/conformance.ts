// Compares the engine with Istio's recorded behaviour: node --import ./scripts/typescript/register.js scripts/conformance.ts DIR [--only PREFIX] [--write] [--hostile COUNT]
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ConformanceCase } from './conformance/conformance-case.ts';
import { crossCases } from './conformance/cross-cases.ts';
import { Golden } from './conformance/golden.ts';
import { hostileAnnotations } from './conformance/hostile-annotations.ts';
import { httpCases } from './conformance/http-cases.ts';
import { kubeInjectCases } from './conformance/kube-inject-cases.ts';
import { formatTotals, readPending, runCases } from './conformance/report.ts';
import { tableCases } from './conformance/table-cases.ts';
import { templateCases } from './conformance/template-cases.ts';
import { webhookCases } from './conformance/webhook-cases.ts';
import { differenceProblems, writeDocument } from './conformance/write-document.ts';

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
