import { writeFileSync } from 'node:fs';
import { missingObject } from './http-cases.ts';
import { podDifferences } from './differences.ts';
import { templateDifferences } from './template-differences.ts';
import { formatTotals, type Report } from './report.ts';

const classes = [...podDifferences, missingObject, ...templateDifferences];

/** What is wrong with the deliberate differences themselves: each must explain a row, and together they explain at most one in a hundred. */
export function differenceProblems(report: Report): string[] {
  const problems = classes
    .filter(({ name }) => !report.differences.has(name))
    .map(({ name }) => `deliberate difference ${name}: explains no row; take it away`);
  const rows = [...report.groups.values()].reduce((sum, group) => sum + group.passed + group.failed + group.pending, 0);
  const differing = [...report.differences.values()].reduce((sum, ids) => sum + ids.length, 0);
  if (differing * 100 > rows)
    problems.push(`deliberate differences: they explain ${differing} of ${rows} rows, more than 1 %`);
  return problems;
}

/** Writes what the run has found for people to read. */
export function writeDocument(path: string, report: Report): void {
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
