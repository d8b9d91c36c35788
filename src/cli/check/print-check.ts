import type { Step } from '../../explain/webhook-choice.ts';
import { writeReport, type OutputFormat } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';
import type { CheckReport } from './check-report.ts';

/** Prints the answers: a line each, and for a single object, or when asked, every step. */
export function printChecks(
  terminal: Terminal,
  format: OutputFormat,
  reports: readonly CheckReport[],
  withSteps: boolean,
): void {
  writeReport(terminal, format, reports, {
    columns: ['NAMESPACE', 'OBJECT', 'RESULT', 'BY', 'NOW', 'WHY'],
    row: (report) => [
      report.namespace,
      `${report.kind.toLowerCase()}/${report.name}`,
      report.result,
      report.injectedBy.join(',') || '-',
      report.existing?.state ?? '-',
      report.message,
    ],
    empty: 'nothing that makes pods was found',
  });
  if (format !== 'table') return;
  for (const report of reports) {
    if (withSteps || reports.length === 1) terminal.out(`\n${detailsOf(report).join('\n')}\n`);
  }
}

function detailsOf(report: CheckReport): string[] {
  const { kind, namespace, name, webhooks, existing, dryRun, advice, notes, reinvoked } = report;
  return [
    `${kind.toLowerCase()}/${name} in namespace ${namespace}:`,
    ...webhooks.flatMap(({ configuration, webhook, target, outcome, steps, message, failurePolicy }) => [
      `  ${configuration}/${webhook} (${ownerOf(target)}, ${failurePolicy}): ${outcomes[outcome]}`,
      ...(steps.length === 0 ? [`    ${message}`] : steps.map((step) => `    ${marks[step.result]} ${stepText(step)}`)),
    ]),
    ...(webhooks.length === 0 ? ['  no webhook is asked about pods'] : []),
    ...(reinvoked.length === 0 ? [] : [`  asked a second time (reinvocationPolicy): ${reinvoked.join(', ')}`]),
    ...(existing === undefined ? [] : [`  now: ${existing.message}`]),
    ...(dryRun === undefined
      ? []
      : [`  the API server, by a dry run: ${dryRun.message}${dryRun.foreseen ? '' : ' (not what was foreseen here)'}`]),
    ...notes.map((note) => `  note: ${note}`),
    ...advice.map(({ sentence }) => `  ${sentence}`),
  ];
}

const marks: Record<Step['result'], string> = { Yes: 'yes    ', No: 'no     ', Error: 'error  ', Unknown: 'unknown' };

const outcomes: Record<CheckReport['webhooks'][number]['outcome'], string> = {
  NotCalled: 'not asked',
  Called: 'asked',
  Injected: 'asked, injects',
  Skipped: 'asked, leaves the pod alone',
  Refused: 'refuses the pod',
  Unknown: 'cannot be told',
};

function ownerOf(target: CheckReport['webhooks'][number]['target']): string {
  if (target === undefined) return 'another injector';
  const { injectorConfig, tag } = target;
  return `${tag === undefined ? '' : `RevisionTag ${tag}, `}InjectorConfig ${injectorConfig}`;
}

function stepText({ step, message }: Step): string {
  return `${stepNames[step].padEnd(17)} ${message.replace(/^matchCondition /, '')}`;
}

const stepNames: Record<Step['step'], string> = {
  NamespaceSelector: 'namespaceSelector',
  ObjectSelector: 'objectSelector',
  MatchCondition: 'matchCondition',
  Configuration: 'configuration',
  Decision: 'decision',
  Injection: 'injection',
};
