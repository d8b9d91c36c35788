import type { PodChange } from '../../explain/pod-changes.ts';
import type { PodResources } from '../../explain/pod-resources.ts';
import { formatTable, plural, widthOf, wrap } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';
import { type DiffReport, type InjectionOutcome, isChanged, isFailing, type WorkloadDiff } from './diff-report.ts';

/** The maximum number of failing workloads that the summary names. */
const mostNamed = 20;

/** The maximum number of lines of a text in the summary. */
const mostLines = 6;

/** Prints the summary of a report: failures, one group for each kind of change, and the sums. */
export function printSummary(terminal: Terminal, report: DiffReport): void {
  const { summary, groups, workloads } = report;
  const width = widthOf(terminal);
  const say = (text: string, indent = 0): void => {
    const lines = wrap(text, width - indent);
    const hidden = lines.splice(mostLines).join('').length;
    if (hidden > 0) lines.push(`… and ${plural(hidden, 'more character')} (-o json shows all)`);
    for (const line of lines) terminal.out(`${' '.repeat(indent)}${line}`);
  };
  say(`from ${report.from} to ${report.to}: ${describeSummary(report)}`);
  const failing = workloads.filter(isFailing);
  if (failing.length > 0) {
    terminal.out('');
    say(`REFUSED: new pods of ${plural(failing.length, 'workload')} would be refused`);
    for (const each of failing.slice(0, mostNamed)) say(`${nameOf(each)}: ${each.after.message}`, 2);
    if (failing.length > mostNamed) say(`and ${failing.length - mostNamed} more (-o json lists all)`, 2);
  }
  for (const [title, is] of [
    ['no longer injected', ({ before, after }) => before.outcome === 'Injected' && after.outcome === 'NotInjected'],
    [
      'injected for the first time',
      ({ before, after }) => before.outcome !== 'Injected' && after.outcome === 'Injected',
    ],
  ] as [string, (diff: WorkloadDiff) => boolean][]) {
    const [first, ...others] = workloads.filter(is);
    if (first === undefined) continue;
    terminal.out('');
    say(`${title}: ${plural(others.length + 1, 'workload')}`);
    say(`for example ${nameOf(first)}: ${first.after.message}`, 2);
  }
  for (const { kind, workloads: count, pods, example, otherChanges, otherFields } of groups) {
    terminal.out('');
    say(`${kind}: ${plural(count, 'workload')}, ${plural(pods, 'pod')}`);
    say(`for example ${example.workload.toLowerCase()} in namespace ${example.namespace}:`, 2);
    sayChange(say, example, 4);
    if (otherChanges > 0)
      say(
        `not shown: ${plural(otherChanges, 'other change')} in ${plural(otherFields, 'field')} (-o json lists all)`,
        2,
      );
  }
  if (summary.podsInPlace + summary.podsByRestart > 0) {
    terminal.out('');
    say(describeUpdate(report));
  }
  if (summary.changed > 0) printResources(terminal, report, width);
  if (summary.changedByOthers > 0)
    say(`${plural(summary.changedByOthers, 'workload')}: other webhooks also change the pods`);
  for (const note of report.notes) terminal.error(note);
}

/** Says how many running pods can become the new pods, and the most frequent reason against it. */
function describeUpdate({ summary: { podsInPlace, podsByRestart }, workloads }: DiffReport): string {
  const counts = new Map<string, number>();
  for (const { pods, needsRestart = [] } of workloads)
    for (const { field, reason } of needsRestart.slice(0, 1))
      counts.set(`${field}: ${reason}`, (counts.get(`${field}: ${reason}`) ?? 0) + pods);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  const inPlace = `${plural(podsInPlace, 'running pod')} can become the new pods in place`;
  return most === undefined
    ? inPlace
    : `${inPlace}, and ${plural(podsByRestart, 'pod')} only by a restart; most often because of ${most[0]}`;
}

function describeSummary({ summary, workloads: diffs }: DiffReport): string {
  const { workloads, pods, changed, failing, estimated, unknown } = summary;
  const compared = `${plural(workloads, 'workload')} with ${plural(pods, 'pod')} compared`;
  const left = unknown > 0 ? [`${unknown} not compared`] : [];
  if (workloads + unknown === 0) return 'nothing was compared';
  if (changed + failing === 0) return [`${compared}, ${noDifference(diffs)}`, ...left].join(', ');
  const parts = [`${changed} changed`, ...(failing > 0 ? [`${failing} refused`] : []), ...left];
  return `${compared}, ${parts.join(', ')}${estimated > 0 ? `; ${estimated} estimated from templates` : ''}`;
}

function noDifference(diffs: readonly WorkloadDiff[]): string {
  const isSame = diffs.length > 0 && diffs.every(({ before, after }) => hashOf(before) === hashOf(after));
  return isSame ? 'no difference: the configurations are identical' : 'no difference';
}

function hashOf({ configuration }: InjectionOutcome): string | undefined {
  return configuration.split('.').at(-1);
}

function nameOf({ kind, namespace, name, isEstimated }: WorkloadDiff): string {
  return `${kind.toLowerCase()}/${name} in namespace ${namespace}${isEstimated ? ' (estimated)' : ''}`;
}

function sayChange(say: (text: string, indent: number) => void, change: PodChange, indent: number): void {
  say(change.path, indent);
  say(`- ${valueText(change.before)}`, indent);
  say(`+ ${valueText(change.after)}`, indent);
}

function valueText(value: unknown): string {
  if (value === undefined) return '(absent)';
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}

function printResources(terminal: Terminal, report: DiffReport, width: number): void {
  const rows = (title: string, { before, after }: DiffReport['resources']): string[][] =>
    (['requests', 'limits'] as const).flatMap((part) =>
      (['cpu', 'memory'] as const).map((name) => {
        const [old, now] = [before, after].map((each: PodResources) => each[part][name]) as [number, number];
        return [`${name} ${part}${title}`, amountText(name, old), amountText(name, now), signed(name, now - old)];
      }),
    );
  const isEmpty = ({ before, after }: DiffReport['resources']): boolean =>
    [before, after].every(({ requests, limits }) => requests.cpu + requests.memory + limits.cpu + limits.memory === 0);
  const all = [
    ...(isEmpty(report.resources) ? [] : rows('', report.resources)),
    ...(isEmpty(report.estimatedResources) ? [] : rows(' (estimated)', report.estimatedResources)),
  ];
  if (all.length === 0) return;
  terminal.out('');
  const columns = ['ALL REPLICAS', 'BEFORE', 'AFTER', 'DIFFERENCE'];
  terminal.out(formatTable(all, { columns, row: (cells) => cells }, width));
  terminal.out('');
}

/** Formats cores or Mi, rounded to thousandths. */
export function amountText(name: 'cpu' | 'memory', amount: number): string {
  const value = name === 'cpu' ? amount : amount / 2 ** 20;
  return `${Math.round(value * 1000) / 1000}${name === 'cpu' ? '' : 'Mi'}`;
}

function signed(name: 'cpu' | 'memory', amount: number): string {
  return `${amount > 0 ? '+' : ''}${amountText(name, amount)}`;
}

/** Prints everything about one workload. */
export function printWorkload(terminal: Terminal, diff: WorkloadDiff): void {
  const width = widthOf(terminal);
  const say = (text: string, indent = 0): void => {
    for (const line of wrap(text, width - indent)) terminal.out(`${' '.repeat(indent)}${line}`);
  };
  say(`${nameOf(diff)}, ${plural(diff.pods, 'pod')}: ${isChanged(diff) ? '' : noDifference([diff])}`);
  for (const [title, { outcome, configuration, message }] of [
    ['before', diff.before],
    ['after', diff.after],
  ] as const)
    say(`${title}: ${outcome} (${configuration}): ${message}`, 2);
  let kind = '';
  for (const change of diff.changes) {
    if (change.kind !== kind) say(change.kind, 2);
    kind = change.kind;
    sayChange(say, change, 4);
  }
  for (const { field, reason } of diff.needsRestart ?? []) say(`needs a restart: ${field}: ${reason}`, 2);
  if (diff.needsRestart?.length === 0) say('running pods can become the new pods in place', 2);
  for (const changed of diff.changedByOthers) say(`other webhooks also change ${changed}`, 2);
  for (const note of diff.notes) say(note, 2);
}
