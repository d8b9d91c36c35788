import type { Command } from 'commander';
import { revisionOf } from '../../api/injector-config/injector-config.ts';
import { allNamespacesOption, clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import type { ApiClient } from '../../kube/api-client.ts';
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
import { type Installation, readInstallation, requireNamespace } from '../usage/installation.ts';
import { lastGoodNotes } from '../usage/last-good.ts';
import { hasLiveReplica, tellHealth } from '../usage/operator-health.ts';
import { formatRestarts, formatStanding, standingOf, type TagStanding } from '../usage/tag-report.ts';
import type { PodCounts } from '../../operator/usage/judge-pod.ts';
import { compareOthers, type OtherInjectorUsage } from '../usage/other-injector.ts';
import { readRefused, type RefusedWorkload } from '../usage/read-refused.ts';
import { noCounts, readUsage, type UsageReport, type WorkloadUsage } from '../usage/read-usage.ts';

interface StatusOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly stale?: true;
  readonly output: OutputFormat;
}

/** `injector status`: the exit status tells a script whether a rollout has ended. */
export function statusCommand(terminal: Terminal): Command {
  return clusterCommand('status', 'count current, stale and missing pods; exit status 3 if any pod is not current')
    .option('-n, --namespace <name>', 'only pods of this namespace')
    .addOption(allNamespacesOption())
    .option('--stale', 'only rows with stale or missing pods')
    .addOption(outputOption())
    .action(async (options: StatusOptions) => {
      const { report, mistakes, notes, health, silent } = await withCluster(options, (client) =>
        readStatus(client, options.namespace, options.stale === true),
      );
      const { stale, missing } = report.total;
      if (stale + missing > 0 || report.others.some(isNotIdentical)) terminal.setExitCode(exitCodes.negative);
      tellHealth(terminal, options.output, health);
      for (const mistake of mistakes) terminal.error(mistake);
      if (options.output === 'table') terminal.out(tables(report, silent, widthOf(terminal)));
      else writeData(terminal, options.output, report);
      for (const note of notes) terminal.error(note);
    });
}

/**
 * Reads what `injector status` reports.
 * @param onlyStale omits rows without stale or missing pods
 */
export async function readStatus(
  client: Pick<ApiClient, 'list' | 'listAll' | 'find'>,
  namespace: string | undefined,
  onlyStale: boolean,
) {
  const installation = await readInstallation(client);
  requireNamespace(namespace, installation);
  const usage = await readUsage(client, installation, namespace);
  const { refused, notes: unread } = await readRefused(client, namespace, usage.isInjected);
  const uncounted: string[] = [];
  const others = await compareOthers(client, usage, namespace, uncounted);
  const report = statusReport(installation, { ...usage, refused, others, injectedByOthers: usage.others }, onlyStale);
  const mistakes = namespaceMistakes(installation, namespace);
  const notes = [...installation.configs.flatMap(lastGoodNotes), ...usage.notes, ...unread, ...uncounted];
  return { report, mistakes, notes, health: installation.health, silent: silentIn(installation) };
}

interface Named extends PodCounts {
  readonly name: string;
}

/** The complete output of `injector status`. */
export interface StatusReport {
  /** The pods by injecting InjectorConfig. A deleted InjectorConfig has no `revision`. */
  readonly injectorConfigs: readonly (Named & { readonly revision?: string })[];
  readonly tags: readonly (Named & TagStanding)[];
  /** The namespaces that have pods, each pod once. */
  readonly namespaces: readonly Named[];
  readonly workloads: readonly WorkloadUsage[];
  /** The workloads that ask for injection, and whose pods the API server refuses. */
  readonly refused: readonly RefusedWorkload[];
  /** The number of pods that another injector injected; these count in no other number. */
  readonly injectedByOthers: number;
  /** The workloads of these pods. */
  readonly others: readonly OtherInjectorUsage[];
  /** The pods that wait for their sidecar (failurePolicy Hold), by scheduling gate. */
  readonly held: UsageReport['held'];
  /** Each pod once: a pod that several injectors inject, in its worst state. */
  readonly total: PodCounts;
}

function statusReport(
  { configs, tags }: Installation,
  usage: UsageReport & Pick<StatusReport, 'refused' | 'others' | 'injectedByOthers'>,
  onlyStale: boolean,
): StatusReport {
  const isShown = ({ stale, missing }: PodCounts): boolean => !onlyStale || stale + missing > 0;
  const revisions = new Map(configs.map((config) => [config.metadata.name, revisionOf(config)]));
  const injectors = new Set([...revisions.keys(), ...usage.injectorConfigs.keys()]);
  return {
    injectorConfigs: [...injectors]
      .sort()
      .map((name) => {
        const revision = revisions.get(name);
        const counts = usage.injectorConfigs.get(name) ?? noCounts;
        return { name, ...(revision === undefined ? {} : { revision }), ...counts };
      })
      .filter(isShown),
    tags: tags
      .map((tag) => {
        const { name } = tag.metadata;
        return { name, ...standingOf(tag), ...(usage.tags.get(name) ?? noCounts) };
      })
      .sort(byName)
      .filter(isShown),
    namespaces: [...usage.namespaces]
      .map(([name, counts]) => ({ name, ...counts }))
      .sort(byName)
      .filter(isShown),
    workloads: usage.workloads.filter(isShown),
    refused: usage.refused,
    injectedByOthers: usage.injectedByOthers,
    others: usage.others.filter((each) => !onlyStale || isNotIdentical(each)),
    held: usage.held,
    total: [...usage.namespaces.values()].reduce(sum, noCounts),
  };
}

function isNotIdentical({ different, notCompared }: OtherInjectorUsage): boolean {
  return different + notCompared > 0;
}

/** Returns mistakes in namespace labels, which would otherwise look like missing injection. */
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

/** Returns the tables that have rows, and a last line with the totals. */
function tables(
  { injectorConfigs, tags, namespaces, workloads, refused, others, injectedByOthers, total }: StatusReport,
  silent: ReadonlySet<string>,
  width: number,
): string[] {
  const table = <Item>(
    columns: string[],
    items: readonly Item[],
    row: TableOf<Item>['row'],
    notes?: TableOf<Item>['notes'],
  ) => (items.length === 0 ? [] : [...formatTable(items, { columns, row, ...(notes && { notes }) }, width), '']);
  // The column RESTARTS shows whether the operator restarts stale workloads.
  const hasRestarts = tags.some(({ restarts }) => restarts !== undefined);
  const parts = [
    table(['INJECTORCONFIG', 'REVISION', ...countColumns], injectorConfigs, (each) => [
      each.name,
      each.revision ?? '(deleted)',
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
      ['NAMESPACE', 'WORKLOAD', 'NEW PODS GET', 'TAG', ...countColumns],
      workloads,
      (each) => [each.namespace, each.workload, newPodsGet(each, silent), each.tag ?? '-', ...counts(each)],
      ({ causes }) => causes.map(({ message }) => message),
    ),
    table(
      ['NAMESPACE', 'REFUSED', 'PODS OF'],
      refused,
      (each) => [each.namespace, each.workload, `${each.kind}/${each.name}`],
      ({ message }) => [message],
    ),
    table(
      ['NAMESPACE', 'OTHER INJECTOR', 'REVISION', 'OURS', 'IDENTICAL', 'DIFFERENT', 'UNKNOWN'],
      others,
      (each) => [
        each.namespace,
        each.workload,
        each.revision === '' ? '-' : each.revision,
        each.injectorConfig,
        ...[each.identical, each.different, each.notCompared].map(String),
      ],
      ({ reasons }) => reasons,
    ),
  ];
  const { current, stale, missing } = total;
  const injected = injectedByOthers === 0 ? '' : `, ${injectedByOthers} injected by another injector`;
  return [...parts.flat(), `${current} current, ${stale} stale, ${missing} missing${injected}`];
}

/** Returns the InjectorConfigs whose webhook no replica answers. */
function silentIn({ configs, health }: Installation): ReadonlySet<string> {
  const silent = configs.filter(({ spec }) => !hasLiveReplica(health, spec.operatorClass));
  return new Set(silent.map(({ metadata }) => metadata.name));
}

function newPodsGet({ expected }: WorkloadUsage, silent: ReadonlySet<string>): string {
  if (expected === undefined) return '-';
  return silent.has(expected) ? 'none: no live replica' : expected;
}

function counts({ current, stale, missing }: PodCounts): string[] {
  return [current, stale, missing].map(String);
}
