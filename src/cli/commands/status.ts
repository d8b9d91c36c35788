import type { Command } from 'commander';
import { revisionOf } from '../../api/injector-config/injector-config.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import {
  formatTable,
  type OutputFormat,
  outputOption,
  type TableOf,
  widthOf,
  writeData,
} from '../report/write-report.ts';
import { labelFamilies, labelMistakes } from '../../explain/label-mistakes.ts';
import { tellHealth } from '../report/tell-health.ts';
import { type Installation, readInstallation, requireNamespace } from '../usage/installation.ts';
import { readUsage } from '../usage/read-usage.ts';
import { formatRestarts, formatStanding, standingOf, type TagStanding } from '../usage/tag-report.ts';
import { noPods, type PodCounts, type UsageReport, type WorkloadUsage } from '../usage/usage-report.ts';

interface StatusOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly stale?: true;
  readonly output: OutputFormat;
}

/**
 * `injector status`: which pods are not what they would be if they were made now, and why. Exit status 3 when there are some, so that a script
 * can wait for the end of a roll-out.
 */
export function statusCommand(terminal: Terminal): Command {
  return clusterCommand('status', 'pods against what they would get now; exit status 3 when some are stale or missing')
    .option('-n, --namespace <name>', 'pods of this namespace only')
    .option('--stale', 'only what has stale or missing pods')
    .addOption(outputOption())
    .action(async (options: StatusOptions) => {
      const { report, mistakes, notes, health } = await withCluster(options, async (client) => {
        const installation = await readInstallation(client);
        const { namespace } = options;
        requireNamespace(namespace, installation);
        const usage = await readUsage(client, installation, namespace);
        const report = statusReport(installation, usage, options.stale === true);
        const mistakes = namespaceMistakes(installation, namespace);
        return { report, mistakes, notes: usage.notes, health: installation.health };
      });
      const { stale, missing } = report.total;
      if (stale + missing > 0) terminal.setExitCode(exitCodes.negative);
      tellHealth(terminal, options.output, health);
      for (const mistake of mistakes) terminal.error(mistake);
      if (options.output === 'table') terminal.out(tables(report, widthOf(terminal)));
      else writeData(terminal, options.output, report);
      for (const note of notes) terminal.error(note);
    });
}

interface Named extends PodCounts {
  readonly name: string;
}

/** What `injector status` says, whole. */
interface StatusReport {
  /** By the InjectorConfig that has injected the pods; `revision` is absent when it is gone. */
  readonly injectorConfigs: readonly (Named & { readonly revision?: string })[];
  readonly tags: readonly (Named & TagStanding)[];
  /** Those with pods. */
  readonly namespaces: readonly Named[];
  readonly workloads: readonly WorkloadUsage[];
  readonly total: PodCounts;
}

/** @param onlyStale leaves out whatever has neither stale nor missing pods */
function statusReport({ configs, tags }: Installation, usage: UsageReport, onlyStale: boolean): StatusReport {
  const isWanted = ({ stale, missing }: PodCounts): boolean => !onlyStale || stale + missing > 0;
  const revisions = new Map(configs.map((config) => [config.metadata.name, revisionOf(config)]));
  const injectors = new Set([...revisions.keys(), ...usage.injectorConfigs.keys()]);
  return {
    injectorConfigs: [...injectors]
      .sort()
      .map((name) => {
        const revision = revisions.get(name);
        const counts = usage.injectorConfigs.get(name) ?? noPods;
        return { name, ...(revision === undefined ? {} : { revision }), ...counts };
      })
      .filter(isWanted),
    tags: tags
      .map((tag) => {
        const { name } = tag.metadata;
        return { name, ...standingOf(tag), ...(usage.tags.get(name) ?? noPods) };
      })
      .sort(byName)
      .filter(isWanted),
    namespaces: [...usage.namespaces]
      .map(([name, counts]) => ({ name, ...counts }))
      .sort(byName)
      .filter(isWanted),
    workloads: usage.workloads.filter(isWanted),
    total: [...usage.namespaces.values()].reduce(sum, noPods),
  };
}

/** What is wrong with the labels of namespaces: those that ask for injection and get none look like those that do not ask. */
function namespaceMistakes({ configs, tags, namespaces }: Installation, only: string | undefined): string[] {
  const families = labelFamilies(configs, tags);
  return [...namespaces]
    .filter(([name]) => only === undefined || name === only)
    .flatMap(([name, labels]) => labelMistakes(labels, families).map(({ message }) => `namespace ${name}: ${message}`));
}

function byName(one: Named, other: Named): number {
  return one.name < other.name ? -1 : 1;
}

function sum(one: PodCounts, other: PodCounts): PodCounts {
  const { current, stale, missing } = other;
  return { current: one.current + current, stale: one.stale + stale, missing: one.missing + missing };
}

const countColumns = ['CURRENT', 'STALE', 'MISSING'];

/** The tables that have rows, and a last line with all pods. */
function tables({ injectorConfigs, tags, namespaces, workloads, total }: StatusReport, width: number): string {
  const table = <Item>(
    columns: string[],
    items: readonly Item[],
    row: TableOf<Item>['row'],
    notes?: TableOf<Item>['notes'],
  ) => (items.length === 0 ? '' : formatTable(items, { columns, row, ...(notes && { notes }) }, width));
  // Who restarts what is stale, where that is not a person.
  const hasRestarts = tags.some(({ restarts }) => restarts !== undefined);
  const parts = [
    table(['INJECTORCONFIG', 'REVISION', ...countColumns], injectorConfigs, (each) => [
      each.name,
      each.revision ?? '(gone)',
      ...counts(each),
    ]),
    table(['TAG', 'REVISION', ...countColumns, ...(hasRestarts ? ['RESTARTS'] : [])], tags, (each) => [
      each.name,
      formatStanding(each),
      ...counts(each),
      ...(hasRestarts ? [formatRestarts(each)] : []),
    ]),
    table(['NAMESPACE', ...countColumns], namespaces, (each) => [each.name, ...counts(each)]),
    table(
      ['NAMESPACE', 'WORKLOAD', 'INJECTORCONFIG', 'TAG', ...countColumns],
      workloads,
      (each) => [each.namespace, each.workload, each.injectorConfig, each.tag ?? '-', ...counts(each)],
      ({ reasons }) => Object.keys(reasons),
    ),
  ];
  const { current, stale, missing } = total;
  return [...parts.filter(Boolean), `${current} current, ${stale} stale, ${missing} missing\n`].join('\n');
}

function counts({ current, stale, missing }: PodCounts): string[] {
  return [current, stale, missing].map(String);
}
