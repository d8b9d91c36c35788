import { inSequence } from '../../api/command-line.ts';
import type { Step } from '../../explain/webhook-choice.ts';
import { webhookOutcomes } from '../../explain/webhook-outcomes.ts';
import { widthOf, wrapUnlessCommand, writeReport, type OutputFormat } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';
import { asShell, type CheckReport } from './check-report.ts';

/** Prints one object with all details, or several objects as a table. */
export function printChecks(
  terminal: Terminal,
  format: OutputFormat,
  reports: readonly CheckReport[],
  withSteps: boolean,
): void {
  const isOne = format === 'table' && reports.length === 1;
  if (!isOne)
    writeReport(terminal, format, reports, {
      columns: ['NAMESPACE', 'OBJECT', 'RESULT', 'BY', 'NOW'],
      row: (report) => [
        report.namespace,
        `${report.kind.toLowerCase()}/${report.name}`,
        report.result,
        report.injectedBy.join(',') || '-',
        report.existing?.held ? 'Held' : (report.existing?.state ?? '-'),
      ],
      notes: (report) => [...standingOf(report.existing, report.rollouts), report.message, ...remedyIn(report)],
      empty: 'no pods or workloads found',
    });
  if (format !== 'table' || !(isOne || withSteps)) return;
  const columns = widthOf(terminal);
  const details = reports.map((report) => detailsOf(report, withSteps).flatMap((line) => folded(line, columns)));
  terminal.out(details.flatMap((lines, index) => [...(isOne && index === 0 ? [] : ['']), ...lines]));
}

/** Returns the first command that gets the pod injected, or solves another problem. */
function remedyIn({ result, command, advice }: CheckReport): string[] {
  const injecting = result === 'Injected' ? undefined : advice.find(({ outcome }) => outcome === 'Injected');
  return [command ?? inSequence(injecting?.commands ?? [])].filter(Boolean);
}

/** Wraps a line and keeps its indentation. */
function folded(line: string, columns: number): string[] {
  const indent = ' '.repeat(line.length - line.trimStart().length);
  const lines = wrapUnlessCommand(line.trimStart(), columns - indent.length - 2);
  return lines.map((text, index) => `${indent}${index === 0 ? '' : '  '}${text}`);
}

/** Returns the answer, its cause and remedies, the notes, and the webhooks. */
function detailsOf(report: CheckReport, withSteps: boolean): string[] {
  const { kind, namespace, name, injectedBy, command, webhooks, existing, dryRun, advice, notes, reinvoked } = report;
  const standing = standingOf(existing, report.rollouts);
  const others = webhooks.filter(({ reason }) => reason === 'NotSelected' && !withSteps);
  const shown = webhooks.filter((each) => !others.includes(each));
  const names = [...new Set(others.map(({ configuration }) => configuration))].join(', ');
  const isUnknown = webhooks.some(({ outcome }) => outcome === 'Unknown');
  const differs = isUnknown ? '' : ' (this differs from the explanation)';
  const isAdvised = advice.some(({ commands }) => inSequence(commands.map(asShell)) === command);
  return [
    `${kind.toLowerCase()}/${name} in namespace ${namespace}: ${[report.result, ...injectedBy].join(' ')}`,
    ...standing.map((line) => `  ${line}`),
    `  why: ${report.message}`,
    ...(command === undefined || isAdvised ? [] : ['  to change this:', `    ${command}`]),
    ...advice.flatMap(({ sentence, commands }) => [
      `  ${sentence.slice(0, sentence.indexOf(':'))}:`,
      ...commands.map((each) => `    ${each}`),
    ]),
    ...(existing === undefined ? [] : [`  now: ${existing.message}`]),
    ...(dryRun === undefined
      ? []
      : [`  dry run by the API server: ${dryRun.message}${dryRun.foreseen ? '' : differs}`]),
    ...notes.map((note) => `  note: ${note}`),
    ...shown.flatMap(({ configuration, webhook, target, outcome, steps, message, failurePolicy }) => [
      `  ${configuration}/${webhook} (${ownerOf(target)}, ${failurePolicy}): ${webhookOutcomes[outcome]}`,
      ...(steps.length === 0 ? [`    ${message}`] : steps.map(stepText)),
    ]),
    ...(others.length === 0 ? [] : [`  webhooks that do not match (--steps shows why): ${others.length}, of ${names}`]),
    ...(webhooks.length === 0 ? ['  no webhook is called for pods'] : []),
    ...(reinvoked.length === 0 ? [] : [`  called a second time (reinvocationPolicy): ${reinvoked.join(', ')}`]),
  ];
}

/** Says that a pod is held, and which part of a rollout its workload is in. */
function standingOf(existing: CheckReport['existing'], rollouts: CheckReport['rollouts']): string[] {
  return [...(existing?.held ? [existing.held.message] : []), ...rollouts.map(({ message }) => message)];
}

function ownerOf(target: CheckReport['webhooks'][number]['target']): string {
  if (target === undefined) return 'another injector';
  const { injectorConfig, tag } = target;
  return `${tag === undefined ? '' : `RevisionTag ${tag}, `}InjectorConfig ${injectorConfig}`;
}

function stepText({ step, result, message }: Step): string {
  const name = `${step.charAt(0).toLowerCase()}${step.slice(1)}`;
  return `    ${result.toLowerCase().padEnd(7)} ${name.padEnd(17)} ${message.replace(/^matchCondition /, '')}`;
}
